/// What stands behind a type's `af`: the place where Afar, and libraries that were written for Alamofire, put members that
/// would else stand in the type itself.
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
    /// The value that is extended.
    public private(set) var type: ExtendedType

    /// Makes the extension of a value.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type that has members behind `af`, see ``AlamofireExtension``.
public protocol AlamofireExtended {
    /// The type that is extended.
    associatedtype ExtendedType

    /// The members of the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get set }
    /// The members of a value.
    var af: AlamofireExtension<ExtendedType> { get set }
}

extension AlamofireExtended {
    /// The members of the type. What is set is not kept: the setter is for members that change something.
    public static var af: AlamofireExtension<Self>.Type {
        get { AlamofireExtension<Self>.self }
        set {}
    }

    /// The members of a value. What is set is not kept: the setter is for members that change something.
    public var af: AlamofireExtension<Self> {
        get { AlamofireExtension(self) }
        set {}
    }
}
