import Foundation
import GRDB

/// The server's own table, beside those of the stack: which deliveries of the webhook there were, since services send
/// them again when an answer was late.
struct Delivery: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "delivery"

    var id: String
    var receivedAt: Date

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("deliveries") { db in
            try db.create(table: "delivery") { table in
                table.primaryKey("id", .text)
                table.column("receivedAt", .datetime).notNull()
            }
        }
        return migrator
    }
}
