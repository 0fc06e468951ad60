import ArgumentParser
import Foundation

/// What `--resize` names: a width, a height or both.
struct ImageSize: ExpressibleByArgument, Equatable {
    /// The width and the height in pixels; 0 where any will do.
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads "320x", "x200" or "320x200".
    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { side in
            side.isEmpty ? 0 : Int(side).flatMap { (1...30_000).contains($0) ? $0 : nil }
        }
        guard sides.count == 2, let width = sides[0], let height = sides[1], width + height > 0 else { return nil }
        self.init(width: width, height: height)
    }

    /// What a decoder needs to know.
    var target: CGSize { CGSize(width: CGFloat(width), height: CGFloat(height)) }

    /// The greatest size of a shape that fits in here.
    ///
    /// - Parameters:
    ///   - ownWidth: The width in pixels of what has the shape.
    ///   - ownHeight: Its height.
    ///   - enlarges: Whether it may be larger than that.
    func fitting(width ownWidth: Int, height ownHeight: Int, enlarges: Bool) -> CGSize {
        let (across, down) = (CGFloat(width) / CGFloat(ownWidth), CGFloat(height) / CGFloat(ownHeight))
        let ratio = width == 0 ? down : height == 0 ? across : min(across, down)
        guard enlarges || ratio < 1 else { return CGSize(width: CGFloat(ownWidth), height: CGFloat(ownHeight)) }
        return CGSize(width: max(1, CGFloat(ownWidth) * ratio), height: max(1, CGFloat(ownHeight) * ratio))
    }
}
