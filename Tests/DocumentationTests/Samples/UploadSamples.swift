import Afar

struct Backup: UploadConvertible {
    let folder: URL

    func asURLRequest() throws -> URLRequest {
        try URLRequest(url: "https://api.example.com/backups", method: .put, headers: [.contentType("text/plain")])
    }

    func createUploadable() throws -> UploadRequest.Uploadable {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let list = FileManager.default.temporaryDirectory.appending(path: "backup-\(UUID().uuidString)")
        try names.joined(separator: "\n").write(to: list, atomically: true, encoding: .utf8)
        return .file(list, shouldRemove: true)
    }
}

struct Countdown: AsyncSequence, UploadConvertible {
    struct AsyncIterator: AsyncIteratorProtocol {
        var number = 4

        mutating func next() async -> Data? {
            number -= 1
            return number > 0 ? Data("\(number)\n".utf8) : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }

    func asURLRequest() throws -> URLRequest {
        try URLRequest(url: "https://api.example.com/countdown", method: .post)
    }

    func createUploadable() throws -> UploadRequest.Uploadable {
        .chunks(RequestBodyStream(self, isReplayable: true))
    }
}

enum UploadSamples {
    static func data() async throws {
        let receipt = try await AF.upload(
            Data("a,b\n1,2\n".utf8), to: "https://api.example.com/tables", method: .put,
            headers: [.contentType("text/csv")]
        )
        .validate()
        .serializingString()
        .value
        print(receipt)
    }

    static func inputStream(file: URL, length: Int64) async throws {
        guard let stream = InputStream(url: file) else { return }
        let receipt = try await AF.upload(
            stream, to: "https://api.example.com/tables",
            headers: [HTTPHeader(name: "Content-Length", value: "\(length)")]
        )
        .validate()
        .serializingString()
        .value
        print(receipt)
    }

    static func chunks() async throws {
        let lines = AsyncStream<Data> { continuation in
            for number in 1...3 { continuation.yield(Data("line \(number)\n".utf8)) }
            continuation.finish()
        }
        let receipt = try await AF.upload(lines, to: "https://api.example.com/tables").serializingString().value
        print(receipt)
    }

    static func chunksWithLength(_ lines: AsyncStream<Data>) async throws {
        let request = AF.upload(lines, length: 21, to: "https://api.example.com/tables")
        print(try await request.serializingString().value)
    }

    static func trailers(_ lines: AsyncStream<Data>) async throws {
        let request = AF.upload(lines, trailers: { ["X-Lines": "3"] }, to: "https://api.example.com/tables")
        print(try await request.serializingString().value)
    }

    static func convertible(folder: URL) async throws {
        let receipt = try await AF.upload(Backup(folder: folder)).validate().serializingString().value
        print(receipt)
        print(try await AF.upload(Countdown(), interceptor: Service(token: "")).validate().serializingString().value)
    }

    static func form(portrait: URL) async throws {
        let request = AF.upload(
            multipartFormData: { form in
                form.append(Data("Ada".utf8), withName: "name")
                form.append(portrait, withName: "portrait")
            }, to: "https://api.example.com/people")
        print(try await request.validate().serializingString().value)
    }

    static func allParts(portrait: URL, stream: InputStream, length: UInt64) async throws {
        let form = MultipartFormData()
        form.append(Data("Ada".utf8), withName: "name")
        form.append(Data(#"{"age":36}"#.utf8), withName: "details", mimeType: "application/json")
        form.append(Data("Notes on…".utf8), withName: "paper", fileName: "notes.txt")
        form.append(portrait, withName: "portrait")
        form.append(portrait, withName: "portrait", fileName: "ada.png", mimeType: "image/png")
        form.append(stream, withLength: length, name: "recording", fileName: "ada.ogg", mimeType: "audio/ogg")

        let response = await AF.upload(multipartFormData: form, to: "https://api.example.com/people", method: .put)
            .validate()
            .serializingString()
            .response
        if let error = response.error, error.isMultipartEncodingError { print("Nothing was sent: \(error)") }
        print(response.value ?? "")
    }

    static func formInAFile(folder: URL) throws {
        let form = MultipartFormData(boundary: "limes")
        form.append(Data("Ada".utf8), withName: "name")
        let file = folder.appending(path: "form")
        try form.writeEncodedData(to: file)
    }

    static func progress(video: URL) async throws {
        let request = AF.upload(video, to: "https://api.example.com/tables")
        let progress = request.uploadProgress(bufferingPolicy: .bufferingNewest(1))
        let receipt = request.validate().serializingString()
        for await progress in progress { print("\(Int(progress.fractionCompleted * 100)) % sent") }
        print(try await receipt.value)
    }
}
