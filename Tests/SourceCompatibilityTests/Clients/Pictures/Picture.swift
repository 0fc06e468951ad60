import Afar
import Foundation

/// A picture as an image library parses it, here only its size.
final class Picture: @unchecked Sendable {
    let width: Int
    let height: Int
    fileprivate var inflated = false

    init?(data: Data) {
        let bytes = [UInt8](data)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]), bytes.count > 24 else { return nil }
        width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
        height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
    }
}

// The library adds its members to `af`, as Afar does.
extension Picture: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Picture {
    var isInflated: Bool { type.inflated }

    func inflate() { type.inflated = true }

    static func threadSafePicture(with data: Data) -> Picture? { Picture(data: data) }
}

extension AlamofireExtension where ExtendedType: URLRequestKeeping {
    var urlString: String { type.urlRequest?.url?.absoluteString ?? "" }
}

/// Types that hold a `URLRequest`.
protocol URLRequestKeeping {
    var urlRequest: URLRequest? { get }
}

struct PictureBox: URLRequestKeeping, AlamofireExtended {
    var urlRequest: URLRequest?
}

enum PictureError: Error {
    case requestCancelled
    case imageSerializationFailed
    case alamofireError(AFError)
}

typealias PictureResult<T> = Result<T, PictureError>
typealias PictureDataResponse<T> = DataResponse<T, PictureError>

/// Converts bytes to a picture.
final class PictureResponseSerializer: ResponseSerializer {
    static nonisolated(unsafe) var acceptableImageContentTypes: Set<String> = ["image/png", "image/jpeg"]

    let emptyResponseCodes: Set<Int>
    let emptyRequestMethods: Set<HTTPMethod>

    init(
        emptyResponseCodes: Set<Int> = PictureResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PictureResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Picture {
        if let error { throw error }

        guard let data, !data.isEmpty else {
            guard emptyResponseAllowed(forRequest: request, response: response) else {
                throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
            }
            throw PictureError.imageSerializationFailed
        }

        try Self.validateContentType(for: request, response: response)
        guard let picture = Picture.af.threadSafePicture(with: data) else {
            throw PictureError.imageSerializationFailed
        }
        picture.af.inflate()
        return picture
    }

    static func validateContentType(for request: URLRequest?, response: HTTPURLResponse?) throws {
        if let url = request?.url, url.isFileURL { return }
        guard let mimeType = response?.mimeType else {
            let contentTypes = Array(acceptableImageContentTypes)
            throw AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: contentTypes))
        }
        guard acceptableImageContentTypes.contains(mimeType) else {
            let contentTypes = Array(acceptableImageContentTypes)
            throw AFError.responseValidationFailed(
                reason: .unacceptableContentType(acceptableContentTypes: contentTypes, responseContentType: mimeType))
        }
    }
}

extension ResponseSerializer where Self == PictureResponseSerializer {
    static var picture: PictureResponseSerializer { PictureResponseSerializer() }
}

extension DataRequest {
    @discardableResult
    func responsePicture(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Picture>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: PictureResponseSerializer(), completionHandler: completionHandler)
    }
}
