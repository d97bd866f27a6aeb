import Foundation
import GRDB
import SyncCore

@testable import SyncSQLite
@testable import SyncStore

/// A store whose rows are matched with a payload of songs.
enum MatchingStore {
    private static let schema = """
        { "entities": {
          "Shelf": { "attributes": { "id": "integer" },
                     "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true,
                                                   "inverse": "shelf" } } },
          "Song": { "attributes": { "id": "integer", "name": "string", "length": "double", "price": "decimal",
                                    "extra": "json", "made": "date" },
                    "relationships": { "shelf": { "entity": "Shelf", "inverse": "songs" },
                                       "booklet": { "entity": "Booklet", "inverse": "song" } } },
          "Booklet": { "attributes": { "pages": "integer" },
                       "relationships": { "song": { "entity": "Song", "inverse": "booklet" } } },
          "Album": { "primaryKey": "code", "attributes": { "code": "string", "name": "string" } },
          "Media": { "abstract": true, "attributes": { "title": "string" } },
          "Book": { "parent": "Media", "primaryKey": "isbn", "attributes": { "isbn": "string" } },
          "Film": { "parent": "Media", "primaryKey": "code", "attributes": { "code": "integer" } },
          "Animal": { "attributes": { "id": "integer" } },
          "Cat": { "parent": "Animal", "attributes": { "lives": "integer" } },
          "Dog": { "parent": "Animal", "attributes": { "tricks": "integer" } } } }
        """

    static func with(
        _ sql: String, _ json: String, of entity: String = "Song", _ body: (SessionStore) throws -> Void
    ) throws {
        try SessionStore.with(SyncModel(schemaData: Data(schema.utf8)), sql, payload: (entity, json), body)
    }
}

extension UnmatchedRowFilter {
    /// A filter that collects no unmatched rows.
    static func none(_ table: SyncTable) -> UnmatchedRowFilter {
        UnmatchedRowFilter(
            watched: table.hierarchy.foreignKeys.map { _ in false }, scope: nil, coversAll: false)
    }

    /// A filter that collects unmatched rows that reference nodes, or that are in scope.
    static func pointing(_ table: SyncTable, scope: Int? = nil, coversAll: Bool = false) -> UnmatchedRowFilter {
        UnmatchedRowFilter(
            watched: table.hierarchy.foreignKeys.map { _ in true }, scope: scope, coversAll: coversAll)
    }
}

extension SyncTable {
    /// Returns the names of the columns in which a node differs from its row.
    func differing(_ node: Int) -> [String] {
        matches.changed.columns(matches.changed.mask(of: NodeID(node))).map(column).compactMap(name)
    }
}
