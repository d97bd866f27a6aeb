import Foundation
import SyncCore
import Testing

@testable import SyncStore

/// A model of songs. Lists and songs are ordered at both ends, shelves order their songs, and tags are unordered.
/// Sleeves are keyless, `Live` is a subentity of `Song`, and the subentities of `Media` have separate keys.
enum SongModel {
    private static let schema = """
        { "entities": {
          "List": { "attributes": { "id": "integer" },
                    "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true,
                                                  "inverse": "lists" } } },
          "Shelf": { "attributes": { "id": "integer" },
                     "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true,
                                                   "inverse": "shelf" } } },
          "Tag": { "attributes": { "id": "integer" },
                   "relationships": { "songs": { "entity": "Song", "many": true, "inverse": "tags" } } },
          "Sleeve": { "attributes": { "colour": "string" },
                      "relationships": { "song": { "entity": "Song", "inverse": "sleeve" } } },
          "Media": { "abstract": true, "attributes": { "title": "string" } },
          "Book": { "parent": "Media", "primaryKey": "isbn", "attributes": { "isbn": "string" } },
          "Film": { "parent": "Media", "primaryKey": "code", "attributes": { "code": "integer" } },
          "Live": { "parent": "Song", "attributes": { "place": "string" } },
          "Song": { "attributes": { "id": "integer", "name": "string", "length": "double" },
                    "relationships": {
                      "lists": { "entity": "List", "many": true, "ordered": true, "inverse": "songs" },
                      "tags": { "entity": "Tag", "many": true, "inverse": "songs" },
                      "sleeve": { "entity": "Sleeve", "inverse": "song" },
                      "shelf": { "entity": "Shelf", "inverse": "songs" } } } } }
        """

    static func model() throws -> SyncModel { try SyncModel(schemaData: Data(schema.utf8)) }

    /// Returns the payload graph of a payload.
    static func graph(
        _ json: String, of entity: String = "Song", operations: SyncOperations = .all
    ) throws -> PayloadGraph {
        let staging = try PayloadGraphBuilder(
            inEntity: entity, of: model(), parent: nil, operations: operations,
            options: SyncOptions())
        return try staging.map(Data(json.utf8), options: SyncOptions()).graph
    }

    /// Passes the tables of a sync to `body`. The texts of the payload are valid until `body` returns.
    static func withTables(
        _ graph: PayloadGraph, _ body: (SyncTables) throws -> Void
    ) throws {
        try graph.withTexts { try body(SyncTables(graph, $0)) }
    }
}

extension CompiledModel {
    /// Returns the association of a relationship, and the end of the relationship's entity.
    func link(_ entity: String, _ name: String) throws -> (link: CompiledAssociation, end: CompiledAssociation.End) {
        let found = try #require(try self.entity(named: entity).relationship(named: name))
        return (self[found.link], found.end)
    }

    func row(_ entity: String, _ key: RowKey) throws -> StoredRow {
        StoredRow(table: try self.entity(named: entity).table, key: key)
    }
}
