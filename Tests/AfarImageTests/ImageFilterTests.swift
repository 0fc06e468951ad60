import AfarImage
import Foundation
import Testing

@Suite struct ImageFilterTests {
    private static let size = CGSize(width: 6, height: 4)
    private static let picture = Result { try Image.of(12, 9) { x, y in [x * 20, y * 25, 90, 255] } }

    @Test func filtersMatchTheImageMethods() throws {
        let picture = try Self.picture.get()
        let size = Self.size
        let expected: [(any ImageFilter, Image)] = [
            (ScaledToSizeFilter(size: size), picture.imageScaled(to: size)),
            (AspectScaledToFitSizeFilter(size: size), picture.imageAspectScaled(toFit: size)),
            (AspectScaledToFillSizeFilter(size: size), picture.imageAspectScaled(toFill: size)),
            (RoundedCornersFilter(radius: 3), picture.imageRounded(withCornerRadius: 3)),
            (CircleFilter(), picture.imageRoundedIntoCircle()),
            (BlurFilter(blurRadius: 2), picture.imageBlurred(radius: 2)),
            (
                ScaledToSizeWithRoundedCornersFilter(size: size, radius: 2),
                picture.imageScaled(to: size).imageRounded(withCornerRadius: 2)
            ),
            (
                AspectScaledToFillSizeWithRoundedCornersFilter(size: size, radius: 2),
                picture.imageAspectScaled(toFill: size).imageRounded(withCornerRadius: 2)
            ),
            (ScaledToSizeCircleFilter(size: size), picture.imageScaled(to: size).imageRoundedIntoCircle()),
            (
                AspectScaledToFillSizeCircleFilter(size: size),
                picture.imageAspectScaled(toFill: size).imageRoundedIntoCircle()
            ),
            (DynamicImageFilter("none") { $0 }, picture),
            (
                DynamicCompositeImageFilter(ScaledToSizeFilter(size: size), CircleFilter()),
                picture.imageScaled(to: size).imageRoundedIntoCircle()
            ),
        ]
        for (filter, image) in expected { #expect(filter.filter(picture) == image, "\(filter.identifier)") }
        #expect(Set(expected.map(\.0.identifier)).count == expected.count - 1)
    }

    @Test func identifiersDistinguishFilters() {
        #expect(ScaledToSizeFilter(size: Self.size).identifier == "ScaledToSizeFilter-size:(6.0x4.0)")
        #expect(RoundedCornersFilter(radius: 3).identifier == "RoundedCornersFilter-radius:(3.0)-divided:(false)")
        #expect(BlurFilter().identifier == "BlurFilter-radius:(10)")
        #expect(CircleFilter().identifier == "CircleFilter")
        #expect(
            ScaledToSizeCircleFilter(size: Self.size).identifier == "ScaledToSizeFilter-size:(6.0x4.0)_CircleFilter")
    }

    @Test func hostileValuesDoNotTrap() throws {
        let picture = try Self.picture.get()
        for side in [CGFloat.nan, -1, 0, .infinity] {
            let size = CGSize(width: side, height: side)
            #expect(ScaledToSizeFilter(size: size).filter(picture) == picture)
            #expect(!ScaledToSizeFilter(size: size).identifier.isEmpty)
            #expect(RoundedCornersFilter(radius: side).filter(picture).width == 12)
        }
        #expect(BlurFilter(blurRadius: .max).filter(picture).width == 12)
        #expect(BlurFilter(blurRadius: 0).filter(picture) == picture)
    }
}
