import GRDB
import SyncCore
import SyncStore

/// Keys of adopted tables that are UUIDs in another form than a sync writes: bytes, GRDB's default, or small letters. A sync
/// would not find their rows, and would insert them again.
enum OtherUUIDs {
    /// Whether a table has some. Looks at the end of the key's index: bytes come after all text, small letters after capitals.
    /// Small letters behind a digit are found only when all values are read.
    static func exist(in db: Database, of layout: StoreLayout) throws -> Bool {
        for tree in layout.model.trees {
            let names = layout[tree.id]
            for slot in layout.model.entities[tree.root].keySlots where tree.attributes[slot].type == .uuid {
                let statement = try db.cachedStatement(
                    sql: "SELECT 1 FROM \(names.name.quoted) WHERE \(names.columns[slot].quoted) >= 'G' LIMIT 1")
                if try Int.fetchOne(statement) != nil { return true }
            }
        }
        return false
    }
}
