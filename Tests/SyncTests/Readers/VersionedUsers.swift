import Foundation
import GRDB
import Sync

/// Stored users of one version, which determines their number. A reader that sees another number, or two versions at
/// once, has seen half of a sync.
struct VersionedUsers: Hashable, Sendable {
    let version: Int

    /// Enough for a sync to report progress while it writes.
    private var count: Int { 2_500 + version % 7 * 100 }

    var payload: Data {
        let users = (1...count).map { number in
            """
            {"id": \(number), "first_name": "\(version)", "age": \(version), "company": {"id": 1, "name": "\(version)"},\
             "notes": [{"id": \(number), "text": "\(version)"}]}
            """
        }
        return Data("[\(users.joined(separator: ","))]".utf8)
    }

    init(version: Int) { self.version = version }

    /// Reads the stored version in one transaction.
    ///
    /// - Throws: ``Half`` if the rows are not one whole version.
    init(_ db: Database) throws {
        let sql = """
            SELECT
              (SELECT count(*) FROM User), (SELECT min(age) FROM User), (SELECT max(age) FROM User),
              (SELECT count(*) FROM Note), (SELECT min(text) FROM Note), (SELECT max(text) FROM Note),
              (SELECT name FROM Company), (SELECT count(*) FROM User WHERE companyID = 1)
            """
        guard let row = try Row.fetchOne(db, sql: sql) else { throw Half(seen: "nothing") }
        let version = row[1] as Int? ?? -1
        let whole = VersionedUsers(version: version)
        let expected: [DatabaseValue] = [
            whole.count.databaseValue, version.databaseValue, version.databaseValue, whole.count.databaseValue,
            "\(version)".databaseValue, "\(version)".databaseValue, "\(version)".databaseValue,
            whole.count.databaseValue,
        ]
        guard Array(row.databaseValues) == expected else { throw Half(seen: row.description) }
        self = whole
    }

    struct Half: Error, CustomStringConvertible {
        let seen: String
        var description: String { "a reader saw half of a sync: \(seen)" }
    }
}
