import Afar
import AfarCore
import Foundation

/// What an upload sends.
enum UploadContent {
    case file(InputFile, type: String)
    case form([FormPart])

    /// Makes what the options describe, and checks what can be checked before anything is sent.
    init(_ options: UploadOptions, headers: HTTPHeaders) throws {
        switch (options.file, options.part.isEmpty) {
        case (let path?, true):
            guard options.type == nil || headers["Content-Type"] == nil else {
                throw Failure(.usage, "--type and -H Content-Type both name a content type. Choose one.")
            }
            self = .file(try InputFile(path: path), type: options.type ?? MIMETypes.type(ofFileNamed: path))
        case (nil, false):
            guard options.type == nil, headers["Content-Type"] == nil else {
                throw Failure(.usage, "A form has a content type of its own. A part has one after its path: ;type=…")
            }
            self = .form(try options.part.map { try FormPart($0) })
        case (nil, true):
            throw Failure(
                .usage, "There is nothing to upload. Name a file with --file, or the parts of a form with --part.")
        case (_?, false):
            throw Failure(.usage, "An upload has one body: choose between --file and --part.")
        }
    }

    /// The content type, where the library does not set it.
    var type: String? {
        if case .file(_, let type) = self { type } else { nil }
    }

    /// Makes the request.
    func request(_ plan: RequestPlan, in session: Session) -> UploadRequest {
        switch self {
        case .file(.plain(let path), _):
            return session.upload(URL(filePath: path), to: plan.url, method: plan.method, headers: plan.headers)
        case .file(.stream(let bytes), _):
            return session.upload(
                bytes.chunks, length: bytes.length, to: plan.url, method: plan.method, headers: plan.headers)
        case .form(let parts):
            let form = MultipartFormData()
            for part in parts { part.append(to: form) }
            return session.upload(
                multipartFormData: form, to: plan.url, method: plan.method, headers: plan.headers)
        }
    }

    /// The same for curl.
    var curlBody: CurlCommand.Body {
        switch self {
        case .file(.plain(let path), _): .file(path: path)
        case .file(.stream, _): .standardInput
        case .form(let parts): .form(words: parts.flatMap(\.curlWords))
        }
    }
}
