import GRDB
import SyncCore

/// What others added to the tables of a store.
enum HandMadeSchema {
    /// Whether there is something through which a row can change or go without a trigger of ours, or just after it is
    /// written: a unique index (`INSERT OR REPLACE` deletes what is in its way silently), or a trigger. Those that GRDB
    /// makes for full-text search only write to the search's table.
    static func canHideWrites(_ layout: StoreLayout, in db: Database) throws -> Bool {
        let joins = layout.links.compactMap { link -> String? in
            guard case .joinTable(let name, _, _, _, _) = link else { return nil }
            return name
        }
        let names = (layout.tables.map(\.name) + joins).map(\.literal).joined(separator: ", ")
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (
                  SELECT 1 FROM sqlite_schema
                  WHERE tbl_name COLLATE NOCASE IN (\(names)) AND name NOT GLOB 'sync_*'
                  AND (type = 'index' AND sql LIKE '%UNIQUE%' OR type = 'trigger' AND name NOT GLOB '__*_a[diu]')
                )
                """) ?? false
    }
}
