public import Foundation

/// Has a radius.
public protocol Roundable {
    /// The radius in points.
    var radius: CGFloat { get }
}
