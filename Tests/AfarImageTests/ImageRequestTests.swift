import AfarCore
import AfarImage
import AfarTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ImageRequestTests {
    private static func session(_ data: Data, type: String = "image/png") -> Session {
        Session(transport: MockTransport { _ in .data(data, type: type) })
    }

    private static func error(_ data: Data, type: String, _ serializer: ImageResponseSerializer = .image) async
        -> AFError?
    {
        let session = session(data, type: type)
        let error = await session.request("http://example.com/").serializingResponse(using: serializer).response.error
        return withExtendedLifetime(session) { error }
    }

    @Test func anImageIsAwaited() async throws {
        let session = Self.session(Fixtures.pngRGB)
        expect(try await session.request("http://example.com/").serializing(.image).value, Gradient.rgb)
        expect(try await session.download("http://example.com/").serializing(.image).value, Gradient.rgb)
        let scaled = try await session.request("http://example.com/").serializing(.image(imageScale: 2)).value
        #expect(scaled.scale == 2)
    }

    @Test func handlersReceiveAnImage() async {
        let session = Self.session(Fixtures.pngRGB)
        let queue = DispatchQueue(label: "handlers")
        let image: Image? = await withCheckedContinuation { continuation in
            session.request("http://example.com/").response(.image, queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(image?.width == Gradient.width)
        let file: Image? = await withCheckedContinuation { continuation in
            session.download("http://example.com/").response(.image, queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(file == image)
    }

    @Test func theBytesDetermineTheFormat() async throws {
        let session = Self.session(Fixtures.webPLossless, type: "image/png")
        expect(try await session.request("http://example.com/").serializing(.image).value, Gradient.rgb)
    }

    @Test func aTargetSizeIsForwarded() async throws {
        let session = Self.session(Fixtures.jpegLarge, type: "image/jpeg")
        let target = CGSize(width: 10, height: 10)
        #expect(
            try await session.request("http://example.com/").serializing(.image(targetSize: target)).value.width == 16)
        #expect(
            try await session.download("http://example.com/").serializing(.image(targetSize: target)).value.width == 16)
    }

    @Test func anotherContentTypeIsRejected() async {
        let error = await Self.error(Fixtures.pngRGB, type: "text/html; charset=utf-8")
        guard case .responseValidationFailed(.unacceptableContentType(let acceptable, "text/html")) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(acceptable.contains("image/png"))
        let own = ImageResponseSerializer(acceptableContentTypes: ["image/png"])
        let missing = await Self.error(Fixtures.pngRGB, type: "", own)
        guard case .responseValidationFailed(.missingContentType) = missing else {
            Issue.record("unexpected error: \(String(describing: missing))")
            return
        }
    }

    @Test(arguments: ["", "binary/octet-stream", "application/octet-stream"])
    func aGenericContentTypeIsAccepted(type: String) async throws {
        let session = Self.session(Fixtures.pngRGB, type: type)
        expect(try await session.request("http://example.com/").serializing(.image).value, Gradient.rgb)
        expect(try await session.download("http://example.com/").serializing(.image).value, Gradient.rgb)
        // The first bytes must still identify an image.
        #expect((await Self.error(Data("<html>".utf8), type: type)?.underlyingError as? ImageError) != nil)
    }

    @Test func contentTypesCanBeAdded() async {
        #expect(await Self.error(Fixtures.pngRGB, type: "image/x-test-added") != nil)
        ImageResponseSerializer.addAcceptableImageContentTypes(["image/X-Test-Added"])
        #expect(await Self.error(Fixtures.pngRGB, type: "image/x-test-added") == nil)
        let own = ImageResponseSerializer(acceptableContentTypes: ["Image/Mine"])
        #expect(await Self.error(Fixtures.pngRGB, type: "image/mine", own) == nil)
        #expect(await Self.error(Fixtures.pngRGB, type: "image/png", own) != nil)
    }

    @Test func anErrorOfTheImageReachesTheCaller() async {
        let error = await Self.error(Fixtures.pngRGB.dropLast(20), type: "image/png")
        #expect((error?.underlyingError as? ImageError)?.code == .truncated)
        #expect(error?.isResponseSerializationError == true)
    }

    @Test func anEmptyBodyIsAlwaysAnError() async {
        let session = Session(transport: MockTransport { _ in .status(204) })
        let error = await session.request("http://example.com/").serializing(.image).response.error
        guard case .responseSerializationFailed(.invalidEmptyResponse(type: "Image")) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        let unexpected = Session(transport: MockTransport { _ in .status(200) })
        let other = await unexpected.request("http://example.com/").serializing(.image).response.error
        guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = other else {
            Issue.record("unexpected error: \(String(describing: other))")
            return
        }
    }

    @Test func aLargeFileIsNotRead() async {
        let session = Self.session(Fixtures.pngRGB)
        let limits = ImageLimits(maximumBytes: 50)
        let error = await session.download("http://example.com/").serializing(.image(limits: limits)).response.error
        #expect((error?.underlyingError as? ImageError)?.code == .limitExceeded)
    }
}
