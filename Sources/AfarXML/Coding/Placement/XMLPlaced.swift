/// A property wrapper that says where its value stands.
protocol XMLPlaced {
    static var placement: XMLPlacement { get }
}
