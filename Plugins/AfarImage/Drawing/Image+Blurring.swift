public import Foundation

extension Image {
    /// The image blurred as by a Gaussian, which three running means come close to. The pixels at the edges go on outside.
    ///
    /// - Parameter radius: The standard deviation in pixels. One that is no number, or not greater than 0, leaves the image as
    ///   it is.
    public func imageBlurred(radius: CGFloat) -> Image {
        guard radius > 0 else { return self }
        // Farther away there is nothing but edges.
        let across = RunningMeans(deviation: min(radius, CGFloat(width)))
        let down = RunningMeans(deviation: min(radius, CGFloat(height)))
        return drawn(in: pixelSize) { pixels, _ in try pixels.averagedAndTurned(across).averagedAndTurned(down) }
    }
}

extension PixelBuffer {
    /// The picture with its rows blurred, and with rows and columns exchanged: what is done twice is done to both.
    fileprivate func averagedAndTurned(_ means: RunningMeans) throws -> PixelBuffer {
        try PixelBuffer(width: height, height: width, isOpaque: isOpaque) { bytes in
            let target = bytes.assumingMemoryBound(to: SIMD4<UInt8>.self)
            read { bytes in
                let source = bytes.assumingMemoryBound(to: SIMD4<UInt8>.self)
                var line: [SIMD4<Float>] = []
                for y in 0..<height {
                    means.apply(UnsafeBufferPointer(rebasing: source[y * width..<(y + 1) * width]), &line)
                    for x in 0..<width { target[x * height + y] = SIMD4(truncatingIfNeeded: SIMD4<UInt32>(line[x])) }
                }
            }
        }
    }
}

/// Three running means, one after the other, which together have the variance of a Gaussian.
private struct RunningMeans {
    /// How many pixels on each side count.
    private let radii: [Int]

    init(deviation: CGFloat) {
        // A mean of n pixels has the variance (n² − 1) / 12.
        let variance = deviation * deviation
        let smaller = Int(((4 * variance + 1).squareRoot() - 1) / 2)
        let count = CGFloat(2 * smaller + 1)
        // So many of the three are the smaller ones, the others reach a pixel farther.
        let share = (12 * variance - 3 * (count * count + 4 * count + 3)) / (-4 * count - 4)
        radii = (0..<3).map { CGFloat($0) < share.rounded() ? smaller : smaller + 1 }
    }

    /// Blurs a row. The results are rounded by cutting off what is behind the point.
    func apply(_ row: UnsafeBufferPointer<SIMD4<UInt8>>, _ line: inout [SIMD4<Float>]) {
        let reach = radii.reduce(0, +)
        line.removeAll(keepingCapacity: true)
        for x in -reach..<row.count + reach {
            line.append(SIMD4<Float>(SIMD4<UInt32>(truncatingIfNeeded: row[min(max(x, 0), row.count - 1)])))
        }
        var count = line.count
        for radius in radii where radius > 0 {
            count -= 2 * radius
            let share = 1 / Float(2 * radius + 1)
            var sum = line[..<(2 * radius)].reduce(.zero, +)
            for x in 0..<count {
                sum += line[x + 2 * radius]
                let mean = sum * share
                sum -= line[x]
                line[x] = mean
            }
        }
        for x in 0..<row.count {
            line[x] = (line[x] + 0.5).clamped(lowerBound: .zero, upperBound: .init(repeating: 255))
        }
    }
}
