/// A namespace for the members that Afar and libraries written for Alamofire add to a type. It is the type of the `af` property.
///
/// ```swift
/// extension Color: AlamofireExtended {}
///
/// extension AlamofireExtension where ExtendedType == Color {
///     var hex: String { type.name }
/// }
///
/// color.af.hex
/// ```
public struct AlamofireExtension<ExtendedType> {
    /// The extended value.
    public private(set) var type: ExtendedType

    /// Creates the namespace of a value.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type that has members in its `af` namespace. See ``AlamofireExtension``.
public protocol AlamofireExtended {
    /// The extended type.
    associatedtype ExtendedType

    /// The namespace of the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get set }
    /// The namespace of a value.
    var af: AlamofireExtension<ExtendedType> { get set }
}

extension AlamofireExtended {
    /// The namespace of the type. The setter has no effect and exists only for mutating members.
    public static var af: AlamofireExtension<Self>.Type {
        get { AlamofireExtension<Self>.self }
        set {}
    }

    /// The namespace of a value. The setter has no effect and exists only for mutating members.
    public var af: AlamofireExtension<Self> {
        get { AlamofireExtension(self) }
        set {}
    }
}
