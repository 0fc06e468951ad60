import Foundation

/// Makes an image of another: what a downloader does with an image before it caches it.
public protocol ImageFilter: Sendable {
    /// Makes the new image. It may be called on any thread.
    var filter: @Sendable (Image) -> Image { get }

    /// What tells this filter from others: filters with the same identifier must make the same image. The default is the
    /// type's name, with its size and its radius where it has them.
    var identifier: String { get }
}

extension ImageFilter {
    /// The name of the type.
    public var identifier: String { "\(type(of: self))" }
}

extension ImageFilter where Self: Sizable {
    /// The name of the type and the size.
    public var identifier: String { "\(type(of: self))-size:(\(size.width)x\(size.height))" }
}

extension ImageFilter where Self: Roundable {
    /// The name of the type and the radius.
    public var identifier: String { "\(type(of: self))-radius:(\(radius))" }
}
