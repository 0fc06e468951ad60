import Afar
import Foundation

/// A receipt for a download.
final class RequestReceipt {
    let request: DataRequest
    let receiptID: String

    init(request: DataRequest, receiptID: String) {
        self.request = request
        self.receiptID = receiptID
    }
}

/// Downloads pictures. Concurrent requests for the same picture share one download.
class PictureDownloader: @unchecked Sendable {
    typealias CompletionHandler = @Sendable (PictureDataResponse<Picture>) -> Void

    private class ResponseHandler {
        let request: DataRequest
        var operations: [(receiptID: String, completion: CompletionHandler?)]

        init(request: DataRequest, receiptID: String, completion: CompletionHandler?) {
            self.request = request
            operations = [(receiptID, completion)]
        }
    }

    static let `default` = PictureDownloader()

    let session: Session
    private var responseHandlers: [String: ResponseHandler] = [:]
    private let synchronizationQueue = DispatchQueue(label: "pictures.synchronization")
    private let responseQueue = DispatchQueue(label: "pictures.response", attributes: .concurrent)

    class func defaultURLSessionConfiguration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.headers = .default
        configuration.httpShouldSetCookies = true
        configuration.requestCachePolicy = .useProtocolCachePolicy
        configuration.allowsCellularAccess = true
        configuration.timeoutIntervalForRequest = 60
        return configuration
    }

    init(configuration: URLSessionConfiguration = PictureDownloader.defaultURLSessionConfiguration()) {
        session = Session(configuration: configuration, startRequestsImmediately: false)
    }

    init(session: Session) {
        self.session = session
    }

    @discardableResult
    func download(
        _ urlRequest: URLRequestConvertible, receiptID: String = UUID().uuidString,
        serializer: PictureResponseSerializer = PictureResponseSerializer(), completion: CompletionHandler? = nil
    ) -> RequestReceipt? {
        var request: DataRequest?
        synchronizationQueue.sync {
            guard let urlID = urlRequest.urlRequest?.url?.absoluteString else { return }
            if let handler = responseHandlers[urlID] {
                handler.operations.append((receiptID, completion))
                request = handler.request
                return
            }
            let download = session.request(urlRequest).validate()
            download.response(queue: responseQueue, responseSerializer: serializer) { [weak self] response in
                guard let strongSelf = self else { return }
                let operations = strongSelf.synchronizationQueue.sync {
                    strongSelf.responseHandlers.removeValue(forKey: urlID)?.operations ?? []
                }
                for (_, completion) in operations {
                    DispatchQueue.main.async { completion?(response.mapError(PictureError.alamofireError)) }
                }
            }
            responseHandlers[urlID] = ResponseHandler(request: download, receiptID: receiptID, completion: completion)
            if download.isInitialized { download.resume() }
            request = download
        }
        return request.map { RequestReceipt(request: $0, receiptID: receiptID) }
    }

    func cancelRequest(with requestReceipt: RequestReceipt) {
        synchronizationQueue.sync {
            guard
                let urlID = requestReceipt.request.request?.url?.absoluteString
                    ?? requestReceipt.request.convertible.urlRequest?.url?.absoluteString,
                let responseHandler = responseHandlers[urlID],
                let index = responseHandler.operations.firstIndex(where: { $0.receiptID == requestReceipt.receiptID })
            else { return }
            let operation = responseHandler.operations.remove(at: index)
            let response: PictureDataResponse<Picture> = DataResponse(
                request: requestReceipt.request.request, response: nil, data: nil, metrics: nil,
                serializationDuration: 0.0, result: .failure(PictureError.requestCancelled))
            DispatchQueue.main.async { operation.completion?(response) }
            if responseHandler.operations.isEmpty {
                requestReceipt.request.cancel()
                responseHandlers.removeValue(forKey: urlID)
            }
        }
    }
}
