import AfarStages
import Foundation
import GRDB

/// A response as the database has it.
struct ResponseRow {
    let url: String
    let variant: String
    let status: Int
    let fields: String
    /// The body; nil when it is in a file.
    let body: Data?
    let file: String?
    let bodyByteCount: Int
    /// The body's checksum.
    let checksum: Int
    /// What it counts for in the store's capacity.
    let byteCount: Int
    let requestDate: Date
    let responseDate: Date

    init(_ response: CachedResponse, file: String?) {
        url = response.url
        variant = response.variant
        status = response.status
        fields = FieldLines.text(response.fields)
        body = file == nil ? response.body : nil
        self.file = file
        bodyByteCount = response.body.count
        checksum = BodyFiles.checksum(of: response.body)
        byteCount = response.byteCount
        requestDate = response.requestDate
        responseDate = response.responseDate
    }

    /// The columns in the order of ``columns``.
    init(_ row: Row) throws {
        url = try row.value(at: 0)
        variant = try row.value(at: 1)
        status = try row.value(at: 2)
        fields = try row.value(at: 3)
        body = Data.fromDatabaseValue(row[4])
        file = String.fromDatabaseValue(row[5])
        bodyByteCount = try row.value(at: 6)
        checksum = try row.value(at: 7)
        byteCount = try row.value(at: 8)
        requestDate = Date(timeIntervalSince1970: try row.value(at: 9))
        responseDate = Date(timeIntervalSince1970: try row.value(at: 10))
    }

    static let columns =
        "url, variant, status, fields, body, file, bodyByteCount, checksum, byteCount, requestDate, responseDate"

    var values: StatementArguments {
        [
            url, variant, status, fields, body, file, bodyByteCount, checksum, byteCount,
            requestDate.timeIntervalSince1970, responseDate.timeIntervalSince1970,
        ]
    }
}
