import Afar
import Foundation
import Measurement

guard let job = Job() else { exit(64) }

var configuration = SessionConfiguration.default
configuration.httpMaximumConnectionsPerHost = job.connections
let session = Session(configuration: configuration)
let url = job.url

switch job.action {
case .get:
    try await job.measure { try await session.request(url).serializingData().value.count }
case .decode:
    try await job.measure { try await session.request(url).serializingDecodable(Record.self).value.answer }
case .download, .discard, .upload:
    exit(64)
}
