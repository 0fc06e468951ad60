import Foundation
import Testing

@testable import AfarCLI

struct ImageSizeTests {
    @Test(arguments: [("320x", 320, 0), ("x200", 0, 200), ("320x200", 320, 200), ("1X1", 1, 1)])
    func aWidthAHeightOrBothAreASize(argument: String, width: Int, height: Int) {
        #expect(ImageSize(argument: argument) == ImageSize(width: width, height: height))
    }

    @Test(arguments: ["", "x", "320", "0x0", "0x5", "-1x5", "axb", "1x2x3", "30001x", "99999999999999999999x", "1.5x"])
    func otherArgumentsAreInvalid(argument: String) {
        #expect(ImageSize(argument: argument) == nil)
    }

    @Test func theAspectRatioIsPreserved() {
        func fitting(_ size: ImageSize, enlarges: Bool = true) -> CGSize {
            size.fitting(width: 80, height: 40, enlarges: enlarges)
        }
        #expect(fitting(ImageSize(width: 20, height: 0)) == CGSize(width: 20, height: 10))
        #expect(fitting(ImageSize(width: 0, height: 20)) == CGSize(width: 40, height: 20))
        #expect(fitting(ImageSize(width: 20, height: 20)) == CGSize(width: 20, height: 10))
        #expect(fitting(ImageSize(width: 160, height: 160)) == CGSize(width: 160, height: 80))
        #expect(fitting(ImageSize(width: 160, height: 160), enlarges: false) == CGSize(width: 80, height: 40))
        #expect(fitting(ImageSize(width: 1, height: 0)) == CGSize(width: 1, height: 1))
    }
}
