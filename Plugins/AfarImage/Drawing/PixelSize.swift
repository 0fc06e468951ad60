import Foundation

/// A width and a height in whole pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Rounds a size in points; nil for one that no image can have.
    ///
    /// - Parameters:
    ///   - size: In points; anything.
    ///   - scale: The pixels of a point.
    init?(_ size: CGSize, scale: CGFloat) {
        guard let width = Self.pixels(size.width * scale), let height = Self.pixels(size.height * scale) else {
            return nil
        }
        self.init(width: width, height: height)
    }

    private static func pixels(_ length: CGFloat) -> Int? {
        let length = length.rounded()
        // False for what is no number, too.
        guard length >= 1, length <= CGFloat(Image.maximumDimension) else { return nil }
        return Int(length)
    }

    /// The smallest size of the same shape that is at least as wide and as high as a target, and not larger than this.
    ///
    /// - Parameters:
    ///   - target: In pixels; nil gives this size.
    ///   - isTurned: Whether the target is that of the picture turned by a quarter.
    func covering(_ target: CGSize?, isTurned: Bool) -> PixelSize {
        guard let target else { return self }
        let (targetWidth, targetHeight) = isTurned ? (target.height, target.width) : (target.width, target.height)
        let ratio = max(targetWidth / CGFloat(width), targetHeight / CGFloat(height))
        guard ratio > 0, ratio < 1 else { return self }
        return PixelSize(
            width: min(width, Int((CGFloat(width) * ratio).rounded(.up))),
            height: min(height, Int((CGFloat(height) * ratio).rounded(.up))))
    }
}
