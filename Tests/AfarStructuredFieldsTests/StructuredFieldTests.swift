import Afar
import AfarStructuredFields
import AfarTestServer
import Foundation
import StructuredFieldValues
import Testing

/// Structured fields (RFC 9651) of requests and responses.
@Suite struct StructuredFieldTests {
    /// RFC 9218, section 4.
    private struct Priority: StructuredFieldValue, Equatable {
        static let structuredFieldType = StructuredFieldType.dictionary

        var u: Int?
        var i: Bool?
    }

    /// RFC 9530, section 3.
    private struct Digest: StructuredFieldValue, Equatable {
        static let structuredFieldType = StructuredFieldType.dictionary

        enum CodingKeys: String, CodingKey { case sha256 = "sha-256" }

        var sha256: Data?
    }

    /// RFC 9211, section 2.
    private struct CacheStatus: StructuredFieldValue, Equatable {
        static let structuredFieldType = StructuredFieldType.list

        struct Cache: Codable, Equatable {
            struct Parameters: Codable, Equatable {
                var hit: Bool?
                var ttl: Int?
            }

            var item: String
            var parameters: Parameters
        }

        var items: [Cache]
    }

    private struct Deprecation: StructuredFieldValue, Equatable {
        static let structuredFieldType = StructuredFieldType.item

        var item: Date
    }

    @Test func valuesAreDecodedByTheirType() throws {
        let headers: HTTPHeaders = [
            "priority": "u=1, i", "Repr-Digest": "sha-256=:3q2+7w==:, unixsum=7",
            "Cache-Status": "ExampleCache; hit; ttl=376, \"CDN Company Here\"; hit=?0", "Deprecation": "@1688169599",
        ]
        #expect(try headers.value(for: "Priority", as: Priority.self) == Priority(u: 1, i: true))
        #expect(try headers.value(for: "repr-digest", as: Digest.self)?.sha256 == Data([0xde, 0xad, 0xbe, 0xef]))
        #expect(
            try headers.value(for: "Cache-Status", as: CacheStatus.self)?.items == [
                CacheStatus.Cache(item: "ExampleCache", parameters: .init(hit: true, ttl: 376)),
                CacheStatus.Cache(item: "CDN Company Here", parameters: .init(hit: false, ttl: nil)),
            ])
        #expect(
            try headers.value(for: "Deprecation", as: Deprecation.self)?.item
                == Date(timeIntervalSince1970: 1_688_169_599))
        #expect(try headers.value(for: "Missing", as: Priority.self) == nil)
    }

    @Test(arguments: ["u=1,", "u==1", "u=1 i", "u=ä", "u=\"1", "U=1", "u=1234567890123456", "u=(", "u=@1.5", "=1"])
    func malformedFieldsAreErrors(value: String) {
        #expect {
            try HTTPHeaders(["Priority": value]).value(for: "Priority", as: Priority.self)
        } throws: { error in
            let error = error as? StructuredFieldError
            return error?.name == "Priority" && error?.localizedDescription.contains("Priority") == true
        }
    }

    @Test func valuesOfAnotherTypeAreErrors() {
        let headers: HTTPHeaders = ["Priority": "u=high"]
        #expect(throws: StructuredFieldError.self) { try headers.value(for: "Priority", as: Priority.self) }
        #expect(throws: StructuredFieldError.self) { try headers.value(for: "Priority", as: Deprecation.self) }
    }

    /// The parser compares each key with all earlier keys.
    @Test func fieldsWithTooManyMembersAreErrors() throws {
        let members = (0..<4_096).map { "k\($0)" }
        let largest: HTTPHeaders = ["Priority": members.joined(separator: ",")]
        #expect(try largest.value(for: "Priority", as: Priority.self) == Priority())
        for separator in [",", ";"] {
            let headers: HTTPHeaders = ["Priority": (members + ["u=1"]).joined(separator: separator)]
            #expect {
                try headers.value(for: "Priority", as: Priority.self)
            } throws: { ($0 as? StructuredFieldError)?.localizedDescription.contains("4,096") == true }
        }
    }

    @Test func valuesThatTheFormatCannotRepresentAreErrors() throws {
        struct Uppercase: StructuredFieldValue {
            static let structuredFieldType = StructuredFieldType.dictionary

            var upperCase = 1
        }
        #expect(throws: StructuredFieldError.self) { try HTTPHeader(name: "X", value: Uppercase()) }
        #expect {
            try HTTPHeader(name: "Priority", value: Priority(u: 1_000_000_000_000_000))
        } throws: { ($0 as? StructuredFieldError)?.localizedDescription.contains("Priority") == true }
    }

    @Test func fieldsOfRequestsAndResponses() async throws {
        let server = try await TestServer.start()
        server.route("/") { _ in
            ServerResponse(headers: ["Cache-Status": "origin; hit=?0", "Cache-Status": "edge; hit; ttl=5"])
        }
        let session = Session()
        let headers: HTTPHeaders = [try HTTPHeader(name: "Priority", value: Priority(u: 1, i: true))]
        let response = await session.request(server.url("/"), headers: headers).serializingData(emptyResponseCodes: [
            200
        ]).response
        #expect(server.lastRequest(path: "/")?.headers["Priority"] == "u=1, i")
        let status = try response.response?.headers.value(for: "Cache-Status", as: CacheStatus.self)
        #expect(status?.items.map(\.item) == ["origin", "edge"])
        #expect(status?.items.last?.parameters == .init(hit: true, ttl: 5))
        await server.stop()
    }
}
