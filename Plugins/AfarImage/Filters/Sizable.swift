public import Foundation

/// Has a size.
public protocol Sizable {
    /// The size in points.
    var size: CGSize { get }
}
