public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes an image from a response: PNG, JPEG or WebP, which its first bytes tell.
public final class ImageResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The ``Image/scale`` of images.
    public var imageScale: CGFloat { options.scale }
    /// How images are decoded, and what they may cost.
    public let options: ImageDecodingOptions
    /// The formats that can be read.
    public let decoders: [any ImageDecoder]
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    private let ownContentTypes: Set<String>?

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - imageScale: The ``Image/scale`` of images. The default is ``defaultImageScale``, 1.
    ///   - targetSize: The size in pixels that images will be shown in; see ``ImageDecodingOptions/targetSize``. The default
    ///     is nil: that of the file.
    ///   - limits: What an image may cost.
    ///   - acceptableContentTypes: The media types that a response may have. The default is nil:
    ///     ``acceptableImageContentTypes``, or none at all.
    ///   - decoders: The formats that can be read. The default is ``Image/standardDecoders``.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = ImageResponseSerializer.defaultDataPreprocessor,
        imageScale: CGFloat = ImageResponseSerializer.defaultImageScale,
        targetSize: CGSize? = nil,
        limits: ImageLimits = ImageLimits(),
        acceptableContentTypes: Set<String>? = nil,
        decoders: [any ImageDecoder] = Image.standardDecoders,
        emptyResponseCodes: Set<Int> = ImageResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = ImageResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        options = ImageDecodingOptions(scale: imageScale, targetSize: targetSize, limits: limits)
        self.decoders = decoders
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        ownContentTypes = acceptableContentTypes.map(Self.lowercased)
    }

    /// What serializers have in common that make the same of the same response. One with parts of the caller's is like no other.
    var identity: String {
        let standard = Image.standardDecoders.map { ObjectIdentifier(type(of: $0)) }
        guard dataPreprocessor is PassthroughPreprocessor, decoders.map({ ObjectIdentifier(type(of: $0)) }) == standard
        else { return "\(ObjectIdentifier(self))" }
        return "\(options) \(ownContentTypes?.sorted() ?? []) \(emptyResponseCodes.sorted()) \(ownContentTypes == nil)"
    }

    /// The media types that a response may have, in lower case.
    public var acceptableContentTypes: Set<String> { ownContentTypes ?? Self.acceptableImageContentTypes }

    /// The image.
    ///
    /// - Throws: The error of before,
    ///   ``AfarCore/AFError/ResponseValidationFailureReason/unacceptableContentType(acceptableContentTypes:responseContentType:)``,
    ///   ``AfarCore/AFError/ResponseValidationFailureReason/missingContentType(acceptableContentTypes:)``,
    ///   ``AfarCore/AFError/ResponseSerializationFailureReason/inputDataNilOrZeroLength``,
    ///   ``AfarCore/AFError/ResponseSerializationFailureReason/invalidEmptyResponse(type:)`` for an empty body that is
    ///   allowed, as no image is empty, or an ``ImageError``, which reaches handlers inside of
    ///   ``AfarCore/AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
    public func serialize(_ input: SerializationInput) throws -> Image {
        if let error = input.error { throw error }
        if let head = input.head, let data = input.data, !data.isEmpty {
            try checkContentType(head, of: input.request)
        }
        guard let data = try bytes(of: input) else {
            throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "Image"))
        }
        return try Image(data: data, options: options, decoders: decoders)
    }

    /// The image.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Image {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }

    /// The image in a file. One that is too large is not read.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> Image {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        let data = try Data(image: fileURL, limits: options.limits)
        return try serialize(request: request, response: response, data: data, error: nil)
    }

    private func checkContentType(_ head: ResponseHead, of request: URLRequest?) throws {
        guard request?.url?.isFileURL != true else { return }
        let type = head.mediaType
        let acceptable = acceptableContentTypes
        guard type.isComplete else {
            guard ownContentTypes != nil else { return }
            throw AFError.responseValidationFailed(
                reason: .missingContentType(acceptableContentTypes: acceptable.sorted()))
        }
        guard !acceptable.contains(type.essence) else { return }
        throw AFError.responseValidationFailed(
            reason: .unacceptableContentType(
                acceptableContentTypes: acceptable.sorted(), responseContentType: type.essence))
    }
}

// MARK: - Shorthands

extension ResponseSerializer where Self == ImageResponseSerializer {
    /// Decodes an image.
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - imageScale: The ``Image/scale`` of the image. The default is 1.
    ///   - targetSize: The size in pixels that the image will be shown in; see ``ImageDecodingOptions/targetSize``. The
    ///     default is nil: that of the file.
    ///   - limits: What the image may cost.
    ///   - acceptableContentTypes: The media types that the response may have. The default is nil:
    ///     ``ImageResponseSerializer/acceptableImageContentTypes``.
    public static func image(
        imageScale: CGFloat = ImageResponseSerializer.defaultImageScale,
        targetSize: CGSize? = nil,
        limits: ImageLimits = ImageLimits(),
        acceptableContentTypes: Set<String>? = nil
    ) -> ImageResponseSerializer {
        ImageResponseSerializer(
            imageScale: imageScale, targetSize: targetSize, limits: limits,
            acceptableContentTypes: acceptableContentTypes)
    }
}

// MARK: - Media types

extension ImageResponseSerializer {
    private static let contentTypes = Guarded<Set<String>>([
        "application/octet-stream", "binary/octet-stream", "image/apng", "image/jpeg", "image/jpg", "image/pjpeg",
        "image/png", "image/webp", "image/x-png",
    ])

    /// The scale of images where nothing else is said: 1.
    public static var defaultImageScale: CGFloat { 1 }

    /// The media types that a response may have where a serializer has none of its own. A response without a
    /// Content-Type is accepted there, too.
    public static var acceptableImageContentTypes: Set<String> { contentTypes.withLock { $0 } }

    /// Adds to the media types that a response may have, for all serializers that have none of their own. May be called from
    /// any thread.
    ///
    /// - Parameter types: Media types without parameters, "image/x-icon" say.
    public static func addAcceptableImageContentTypes(_ types: Set<String>) {
        contentTypes.withLock { $0.formUnion(lowercased(types)) }
    }

    static func lowercased(_ types: Set<String>) -> Set<String> { Set(types.map { $0.lowercased() }) }
}
