import AfarStages
import Foundation
import GRDB
import HTTPTypes

/// The table of responses. Any number of threads and processes can read it while one of them writes.
struct CacheDatabase: Sendable {
    private let pool: DatabasePool
    private let file: URL
    private let number: UInt64?

    /// The minimum interval in seconds between updates of a response's date of last use.
    private static let useUpdateInterval: Double = 60

    /// The suffix of the file that marks a database as damaged.
    private static let damageMark = "-damaged"

    /// Opens a database. Replaces a database that can't be read. Processes open a database one at a time, so that no process
    /// creates or removes files that another process already uses.
    ///
    /// - Parameter removeBodies: A closure that removes the bodies of a replaced database.
    static func open(_ file: URL, removingBodies removeBodies: () -> Void) throws -> CacheDatabase {
        let lock = try CacheFileLock(for: file)
        defer { lock.release() }
        if FileManager.default.fileExists(atPath: file.path + damageMark) {
            remove(file)
            removeBodies()
        }
        do {
            return try CacheDatabase(file)
        } catch let error as DatabaseError where error.indicatesDamage {
            remove(file)
            removeBodies()
            return try CacheDatabase(file)
        }
    }

    private static func remove(_ file: URL) {
        for suffix in ["", "-wal", "-shm", damageMark] {
            try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
    }

    /// Returns whether an error means that the database is damaged. Marks a damaged database, so that the next
    /// ``DiskCacheStore`` that opens the database replaces it.
    func noteDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.indicatesDamage else { return false }
        markDamaged()
        return true
    }

    /// Marks the database as damaged, so that the next ``DiskCacheStore`` that opens the database replaces it.
    func markDamaged() {
        guard let lock = try? CacheFileLock(for: file) else { return }
        defer { lock.release() }
        // Another store may have replaced the database.
        guard Self.number(of: file) == number else { return }
        // On a full disk, the mark can't be created, but the database can be removed.
        if !FileManager.default.createFile(atPath: file.path + Self.damageMark, contents: nil) { Self.remove(file) }
    }

    /// Returns the inode number of a file.
    private static func number(of file: URL) -> UInt64? {
        var facts = stat()
        return stat(file.path, &facts) == 0 ? UInt64(facts.st_ino) : nil
    }

    private init(_ file: URL) throws {
        self.file = file
        // SQLite creates its other files with the same permissions.
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        number = Self.number(of: file)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.label = "afar.cache"
        pool = try DatabasePool(path: file.path, configuration: configuration)
        try pool.write { db in
            let version = try Row.fetchOne(db, sql: "PRAGMA user_version")?.value(Int.self, at: 0) ?? 0
            guard version != Self.version else { return }
            try db.execute(sql: Self.schema)
        }
    }

    private static let version = 3

    /// Triggers maintain the total size, because several processes can write.
    private static let schema = """
        DROP TABLE IF EXISTS response;
        DROP TABLE IF EXISTS total;
        CREATE TABLE response (
            url TEXT NOT NULL, variant TEXT NOT NULL, status INTEGER NOT NULL, fields TEXT NOT NULL, body BLOB, file TEXT,
            bodyByteCount INTEGER NOT NULL, checksum INTEGER NOT NULL, byteCount INTEGER NOT NULL, requestDate REAL NOT NULL,
            responseDate REAL NOT NULL, lastUse REAL NOT NULL, UNIQUE (url, variant)
        );
        CREATE INDEX responseByUse ON response (lastUse);
        CREATE INDEX responseByFile ON response (file) WHERE file IS NOT NULL;
        CREATE TABLE total (byteCount INTEGER NOT NULL);
        INSERT INTO total VALUES (0);
        CREATE TRIGGER responseAdded AFTER INSERT ON response
            BEGIN UPDATE total SET byteCount = byteCount + NEW.byteCount; END;
        CREATE TRIGGER responseRemoved AFTER DELETE ON response
            BEGIN UPDATE total SET byteCount = byteCount - OLD.byteCount; END;
        PRAGMA user_version = \(version);
        """

    // MARK: Reading

    /// Returns the responses for a URL, newest first, and whether the date of their last use must be updated.
    func rows(for url: String) throws -> (rows: [ResponseRow], mustUpdateUse: Bool) {
        try pool.unsafeRead { db in
            let statement = try db.cachedStatement(
                sql: "SELECT \(ResponseRow.columns), lastUse FROM response WHERE url = ? ORDER BY responseDate DESC")
            let rows = try Row.fetchAll(statement, arguments: [url])
            let limit = Date().timeIntervalSince1970 - Self.useUpdateInterval
            let lastUses = rows.compactMap { try? $0.value(Double.self, at: 11) }
            return (try rows.map(ResponseRow.init), lastUses.contains { $0 < limit })
        }
    }

    func files() throws -> Set<String> {
        try pool.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT file FROM response WHERE file IS NOT NULL")
            return Set(try rows.map { try $0.value(at: 0) })
        }
    }

    func entries() throws -> [DiskCacheStore.Entry] {
        try pool.read { db in
            let sql = """
                SELECT url, variant, status, bodyByteCount, responseDate, lastUse FROM response ORDER BY lastUse DESC, url
                """
            return try Row.fetchAll(db, sql: sql).map { row in
                DiskCacheStore.Entry(
                    url: try row.value(at: 0), variant: try row.value(at: 1), status: try row.value(at: 2),
                    bodyByteCount: try row.value(at: 3),
                    responseDate: Date(timeIntervalSince1970: try row.value(at: 4)),
                    lastUse: Date(timeIntervalSince1970: try row.value(at: 5)))
            }
        }
    }

    // MARK: Writing

    func updateLastUse(of url: String) throws {
        try write { db in
            try db.execute(
                sql: "UPDATE response SET lastUse = ? WHERE url = ?", arguments: [Date().timeIntervalSince1970, url])
        }
    }

    /// Stores a response. Replaces either the response with the same URL and variant, or all responses for the URL. Then removes other
    /// responses, the least recently used first, until the total size is within the capacity.
    ///
    /// - Returns: The files that are no longer needed.
    func store(_ row: ResponseRow, replacesAll: Bool, capacity: Int) throws -> [String] {
        try write { db in
            var files =
                replacesAll
                ? try Self.remove("url = ?", [row.url], db)
                : try Self.remove("url = ? AND variant = ?", [row.url, row.variant], db)
            // Limits the number of variants. Each request can have different values in the fields that `Vary` lists.
            files += try Self.remove(
                "url = ? AND rowid NOT IN (SELECT rowid FROM response WHERE url = ? ORDER BY responseDate DESC LIMIT 15)",
                [row.url, row.url], db)
            try db.cachedStatement(
                sql:
                    "INSERT INTO response (\(ResponseRow.columns), lastUse) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ).execute(arguments: row.values + [Date().timeIntervalSince1970])
            while try Self.byteCount(db) > capacity {
                let least = """
                    rowid IN (SELECT rowid FROM response WHERE url <> ? OR variant <> ? ORDER BY lastUse LIMIT 1)
                    """
                files += try Self.remove(least, [row.url, row.variant], db)
                guard db.changesCount > 0 else { break }
            }
            return files
        }
    }

    /// Updates the fields and dates of the stored response that has the given date and the same URL and variant. Returns
    /// whether there is such a response.
    func update(_ response: CachedResponse, responseDate: Date) throws -> Bool {
        try write { db in
            try db.execute(
                sql: """
                    UPDATE response SET fields = ?, requestDate = ?, responseDate = ?, lastUse = ?
                    WHERE url = ? AND variant = ? AND responseDate = ?
                    """,
                arguments: [
                    FieldLines.text(response.fields), response.requestDate.timeIntervalSince1970,
                    response.responseDate.timeIntervalSince1970, Date().timeIntervalSince1970, response.url,
                    response.variant, responseDate.timeIntervalSince1970,
                ])
            return db.changesCount > 0
        }
    }

    private static func byteCount(_ db: Database) throws -> Int {
        try Row.fetchOne(db, sql: "SELECT byteCount FROM total")?.value(at: 0) ?? 0
    }

    /// Removes the responses for a URL. Removes their files first, because this needs no disk space and frees space for the update of the
    /// database.
    func remove(_ url: String, and removeFiles: ([String]) -> Void) throws {
        try remove("url = ?", [url], and: removeFiles)
    }

    /// Removes all responses, beginning with their files.
    func removeAll(and removeFiles: ([String]) -> Void) throws { try remove("TRUE", [], and: removeFiles) }

    /// Removes responses. If the removal fails, the database is marked, so that the next ``DiskCacheStore`` replaces it with an
    /// empty one. This ensures that the responses don't reappear.
    private func remove(_ condition: String, _ arguments: StatementArguments, and removeFiles: ([String]) -> Void)
        throws
    {
        do {
            try write { db in
                removeFiles(try Self.files(condition, arguments, db))
                _ = try Self.remove(condition, arguments, db)
            }
        } catch {
            markDamaged()
            throw error
        }
    }

    /// Removes the response whose body is in a file, and returns the files that are no longer needed.
    func removeRow(of file: String) throws -> [String] {
        try write { db in try Self.remove("file = ?", [file], db) }
    }

    private static func files(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> [String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT file FROM response WHERE file IS NOT NULL AND \(condition)", arguments: arguments)
        return try rows.map { try $0.value(at: 0) }
    }

    private static func remove(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> [String]
    {
        let files = try files(condition, arguments, db)
        try db.execute(sql: "DELETE FROM response WHERE \(condition)", arguments: arguments)
        return files
    }

    /// Writes to the database. Throws an error if another ``DiskCacheStore`` has replaced the database, because the changes
    /// would be lost.
    private func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        guard Self.number(of: file) == number else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the database was replaced")
        }
        return try pool.write(body)
    }
}

extension DatabaseError {
    /// Whether the file isn't a database or is damaged.
    fileprivate var indicatesDamage: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT].contains(resultCode)
    }
}

extension Row {
    /// Returns a column's value. Treats a value of another type as damage; GRDB itself would crash the process.
    func value<Value: DatabaseValueConvertible>(_ type: Value.Type = Value.self, at index: Int) throws -> Value {
        let value: DatabaseValue = self[index]
        guard let value = Value.fromDatabaseValue(value) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a value's type differs from the column's")
        }
        return value
    }
}

/// A lock that prevents several processes from replacing a database at the same time. The lock is a file next to the database
/// and is never removed.
private struct CacheFileLock {
    /// The maximum time to wait for another process.
    private static let longestWait = Duration.seconds(5)

    private let descriptor: Int32

    /// Blocks the thread until the lock is available.
    init(for url: URL) throws(StoreFileError) {
        descriptor = open(url.path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(url, POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let end = ContinuousClock.now + Self.longestWait
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < end else {
                close(descriptor)
                throw code == EWOULDBLOCK ? .inUse(url) : .unwritable(url, POSIXErrorCode(rawValue: code) ?? .EIO)
            }
            usleep(2_000)
        }
    }

    func release() { close(descriptor) }
}

// MARK: - Rows

/// A response in the database.
struct ResponseRow {
    let url: String
    let variant: String
    let status: Int
    let fields: String
    /// The body; nil if it's in a file.
    let body: Data?
    let file: String?
    let bodyByteCount: Int
    let checksum: Int
    /// The size that counts toward the store's capacity.
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

    /// Creates a row from values in the order of ``columns``.
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

/// Header fields as text, one per line.
enum FieldLines {
    /// The maximum number of fields. `HTTPFields` traps on more than 65,535, and the cache adds a few fields.
    static let limit = 65_000

    static func text(_ fields: HTTPFields) -> String {
        fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
    }

    /// - Throws: An error that indicates damage if there are more lines than the limit.
    static func fields(_ text: String) throws -> HTTPFields {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        guard lines.count <= limit else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a response with \(lines.count) fields")
        }
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(Substring(line[..<colon])))
            else { continue }
            fields.append(HTTPField(name: name, value: String(Substring(line[colon...].dropFirst(2)))))
        }
        return fields
    }
}
