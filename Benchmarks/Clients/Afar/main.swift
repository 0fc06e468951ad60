import Afar
import AfarHTTP
import Foundation
import Measurement

/// Makes the transport that `AFAR_TRANSPORT` names.
func makeTransport(for configuration: SessionConfiguration) -> any Transport {
    let environment = ProcessInfo.processInfo.environment
    if environment["AFAR_TRANSPORT"] == "http" {
        var transport = HTTPTransport.Configuration()
        transport.maximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
        transport.maximumIdleConnections = max(64, configuration.httpMaximumConnectionsPerHost)
        return HTTPTransport(configuration: transport)
    }
    var transport = CurlTransport.Configuration(configuration)
    transport.certificateBundle = environment["SSL_CERT_FILE"].map { URL(filePath: $0) }
    return CurlTransport(configuration: transport)
}

Job.main { job in
    var configuration = SessionConfiguration.default
    configuration.httpMaximumConnectionsPerHost = job.connections
    if job.connections < job.inFlight { configuration.httpVersion = .http2 }
    let session = Session(configuration: configuration, transport: makeTransport(for: configuration))
    let url = job.url
    let file = job.file

    switch job.action {
    case .get:
        try await job.measure { try await session.request(url).serializingData().value.count }
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
