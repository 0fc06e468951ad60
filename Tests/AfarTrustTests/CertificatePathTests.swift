import AfarTrust
import Foundation
import TestServers
import Testing

/// Servers' certificates with several possible issuers, which `Tests/CertificatePaths/make` creates.
@Suite(.timeLimit(.minutes(2))) struct CertificatePathTests {
    private struct Case: Decodable {
        /// The reason of a dead end, its position in the path, and the order of presentation.
        let name: String
        let isValid: Bool
        let store: String
        let presented: [Data]
        let lists: [Data]

        /// - Parameter count: The number of certificates. By default, each certificate is presented once.
        func trust(in folder: URL, repeatingUpTo count: Int? = nil) throws -> ServerTrust {
            let certificates = try presented.map { try Certificate(derEncoded: $0) }
            let others = certificates.dropFirst()
            let repeated = (0..<(count ?? 0)).map { others[others.startIndex + $0 % others.count] }
            return ServerTrust(
                host: "localhost", certificates: certificates + repeated.dropFirst(others.count),
                authorities: CertificateAuthorities(file: folder.appending(path: store)))
        }

        func validate(in folder: URL) throws {
            let trust = try trust(in: folder)
            if lists.isEmpty { try trust.validate() } else { try trust.validateRevocation(lists: lists) }
        }
    }

    private let folder: URL
    private let cases: [Case]

    init() throws {
        folder = try TestCertificates.folder(madeBy: "CertificatePaths/make")
        cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: folder.appending(path: "cases.json")))
    }

    @Test func aPathIsFoundIfThereIsOne() throws {
        #expect(cases.filter(\.isValid).count > 80 && cases.filter { !$0.isValid }.count > 80)
        for entry in cases {
            var error: ServerTrustError?
            do { try entry.validate(in: folder) } catch let caught as ServerTrustError { error = caught }
            #expect((error == nil) == entry.isValid, "\(entry.name): \(error.map { "\($0)" } ?? "accepted")")
        }
    }

    /// More certificates than a search considers, in more paths than it tries.
    @Test func aSearchIsLimited() throws {
        let hostile = try #require(cases.first { $0.name == "hostile" })
        let trust = try hostile.trust(in: folder, repeatingUpTo: 10_000)
        let start = processorTime
        #expect(throws: ServerTrustError.self) { try trust.validate() }
        // A search ends after less than 0.1 s.
        #expect(processorTime - start < 1)
    }

    /// The processor time of this thread, in seconds.
    private var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
