import Afar
import Foundation
import HTTPTypes
import Measurement

/// Returns a session's default transport, or a libcurl transport if `AFAR_TRANSPORT` requires it.
func makeTransport(for configuration: SessionConfiguration) -> any Transport {
    let curl = CurlTransport(configuration: CurlTransport.Configuration(configuration))
    if ProcessInfo.processInfo.environment["AFAR_TRANSPORT"] == "curl" { return curl }
    return FirstCapableTransport([HTTPTransport(configuration: HTTPTransport.Configuration(configuration)), curl])
}

Job.main { job in
    var configuration = SessionConfiguration.default
    configuration.certificateBundle = ProcessInfo.processInfo.environment["SSL_CERT_FILE"].map { URL(filePath: $0) }
    configuration.httpMaximumConnectionsPerHost = job.connections
    if job.connections < job.inFlight { configuration.httpVersion = .http2 }
    let session = Session(configuration: configuration, transport: makeTransport(for: configuration))
    let url = job.url
    let file = job.file

    switch job.action {
    case .get:
        try await job.measure { try await session.request(url).serializingData().value.count }
    case .exchange:
        let transport = HTTPTransport(configuration: HTTPTransport.Configuration(configuration))
        let request = HTTPRequest(url)
        try await withTaskExecutorPreference(transport.taskExecutor) {
            try await job.measure { try await transport.collectBody(of: request) }
        }
    case .decode:
        try await job.measure { try await session.request(url).serializingDecodable(Record.self).value.answer }
    case .download:
        try await job.measure {
            try await session.download(url, to: { _, _ in (file, [.removePreviousFile]) })
                .serializingDownloadedFileURL().value.fileSize()
        }
    case .discard:
        try await job.measure { try await session.transport.countBody(of: url) }
    case .upload:
        try await job.measure {
            _ = try await session.upload(file, to: url, method: .put).validate()
                .serializingData(emptyResponseCodes: [201, 204]).value
            return try file.fileSize()
        }
    case .sendStream:
        try await job.measure {
            guard let stream = InputStream(url: file) else { return 0 }
            _ = try await session.upload(stream, to: url, method: .put).validate()
                .serializingData(emptyResponseCodes: [201, 204]).value
            return try file.fileSize()
        }
    case .sendForm:
        try await job.measure {
            _ = try await session.upload(
                multipartFormData: { $0.append(file, withName: "file") }, to: url, method: .put
            ).validate().serializingData(emptyResponseCodes: [201, 204]).value
            return try file.fileSize()
        }
    case .linger:
        try await job.measure {
            var count = 0
            for await stream in session.streamRequest(url).validate().streamTask().streamingData() {
                count += stream.value?.count ?? 0
                try await Task.sleep(for: .milliseconds(1))
            }
            return count
        }
    }
}
