public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that decodes a PNG, JPEG or WebP image. It detects the format from the first bytes.
public final class ImageResponseSerializer: ResponseSerializer {
    /// The preprocessor that is applied to the body before decoding.
    public let dataPreprocessor: any DataPreprocessor
    /// The ``Image/scale`` of images.
    public var imageScale: CGFloat { options.scale }
    /// The options for decoding images.
    public let options: ImageDecodingOptions
    /// The decoders for the supported formats.
    public let decoders: [any ImageDecoder]
    /// The status codes for which an empty body is allowed.
    public let emptyResponseCodes: Set<Int>
    /// The methods for which an empty body is allowed.
    public let emptyRequestMethods: Set<HTTPMethod>
    private let ownContentTypes: Set<String>?

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor that is applied to the body before decoding.
    ///   - imageScale: The ``Image/scale`` of images. The default is ``defaultImageScale``, 1.
    ///   - targetSize: The size in pixels at which images will be shown. See ``ImageDecodingOptions/targetSize``. The default is nil,
    ///     which uses the file's size.
    ///   - limits: The limits on images.
    ///   - acceptableContentTypes: The accepted media types. The default is nil, which accepts ``acceptableImageContentTypes`` and
    ///     responses without a Content-Type.
    ///   - decoders: The decoders for the supported formats. The default is ``Image/standardDecoders``.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

    /// An identifier that serializers share if they return equal images. A serializer with a custom preprocessor or decoder has
    /// a unique identifier.
    var identity: String {
        let standard = Image.standardDecoders.map { ObjectIdentifier(type(of: $0)) }
        guard dataPreprocessor is PassthroughPreprocessor, decoders.map({ ObjectIdentifier(type(of: $0)) }) == standard
        else { return "\(ObjectIdentifier(self))" }
        return "\(options) \(ownContentTypes?.sorted() ?? []) \(emptyResponseCodes.sorted()) \(ownContentTypes == nil)"
    }

    /// The accepted media types, in lowercase.
    public var acceptableContentTypes: Set<String> { ownContentTypes ?? Self.acceptableImageContentTypes }

    /// Returns the image.
    ///
    /// - Throws: The input's error,
    ///   ``AfarCore/AFError/ResponseValidationFailureReason/unacceptableContentType(acceptableContentTypes:responseContentType:)``,
    ///   ``AfarCore/AFError/ResponseValidationFailureReason/missingContentType(acceptableContentTypes:)``, or
    ///   ``AfarCore/AFError/ResponseSerializationFailureReason/inputDataNilOrZeroLength``. Throws
    ///   ``AfarCore/AFError/ResponseSerializationFailureReason/invalidEmptyResponse(type:)`` for an allowed empty body, because no
    ///   image is empty. Throws an ``ImageError`` if the image can't be decoded. Handlers receive this error in
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

    /// Returns the image.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Image {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }

    /// Returns the image in a file. A file that exceeds the limit isn't read.
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

extension ResponseSerializer where Self == ImageResponseSerializer {
    /// A serializer that decodes an image.
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }

    /// Returns a serializer that decodes an image.
    ///
    /// - Parameters:
    ///   - imageScale: The ``Image/scale`` of the image. The default is 1.
    ///   - targetSize: The size in pixels at which the image will be shown. See ``ImageDecodingOptions/targetSize``. The default is nil,
    ///     which uses the file's size.
    ///   - limits: The limits on the image.
    ///   - acceptableContentTypes: The accepted media types. The default is nil, which accepts
    ///     ``ImageResponseSerializer/acceptableImageContentTypes`` and responses without a Content-Type.
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

extension ImageResponseSerializer {
    private static let contentTypes = Locked<Set<String>>([
        "application/octet-stream", "binary/octet-stream", "image/apng", "image/jpeg", "image/jpg", "image/pjpeg",
        "image/png", "image/webp", "image/x-png",
    ])

    /// The default scale of images, 1.
    public static var defaultImageScale: CGFloat { 1 }

    /// The media types that serializers accept by default. Serializers also accept responses without a Content-Type.
    public static var acceptableImageContentTypes: Set<String> { contentTypes.withLock { $0 } }

    /// Adds media types to the types that serializers accept by default. Any thread can call this method.
    ///
    /// - Parameter types: Media types without parameters, such as "image/x-icon".
    public static func addAcceptableImageContentTypes(_ types: Set<String>) {
        contentTypes.withLock { $0.formUnion(lowercased(types)) }
    }

    static func lowercased(_ types: Set<String>) -> Set<String> { Set(types.map { $0.lowercased() }) }
}
