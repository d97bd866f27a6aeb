import Foundation
import MemoryStore
import Sync
import SyncCore

/// A store in memory that can keep only short names and keys, no U+0000, and few numbers and dates.
enum LimitedStore {
    static let capabilities = {
        var capabilities = StoreCapabilities()
        capabilities.identifierLength = 40
        capabilities.keyLength = 12
        capabilities.allowsNULInText = false
        capabilities.integers = -1000...1000
        capabilities.doubles = -0.5...0.5
        capabilities.decimals = -2.5...2.5
        capabilities.dates = date("2000-01-01T00:00:00Z")...date("2000-12-31T00:00:00Z")
        return capabilities
    }()

    /// Notes with values of each type, tags by ID, and parts and bolts with composite keys.
    static let schema = #"""
        { "entities": {
          "Note": { "attributes": { "id": "string", "text": "string", "count": "integer", "isOpen": "boolean",
                                    "ratio": "double", "price": "decimal", "day": "date", "extra": "json",
                                    "site": "url", "photo": "binary", "words": { "type": "transformable",
                                    "transformer": "commaSeparated" }, "plain": "transformable" },
                    "relationships": {
                      "author": { "entity": "Author", "inverse": "notes" },
                      "tags": { "entity": "Tag", "many": true, "inverse": "notes" },
                      "parts": { "entity": "Part", "many": true, "inverse": "note" } } },
          "Author": { "attributes": { "id": "string", "name": "string" },
                      "relationships": { "notes": { "entity": "Note", "many": true, "inverse": "author" } } },
          "Tag": { "attributes": { "id": "string" },
                   "relationships": { "notes": { "entity": "Note", "many": true, "inverse": "tags" } } },
          "Part": { "attributes": { "kind": "string", "number": "integer", "label": "string" },
                    "primaryKey": ["kind", "number"],
                    "relationships": { "note": { "entity": "Note", "inverse": "parts" },
                                       "bolts": { "entity": "Bolt", "many": true, "inverse": "part" } } },
          "Bolt": { "attributes": { "size": "integer" }, "primaryKey": ["part", "size"],
                    "relationships": { "part": { "entity": "Part", "inverse": "bolts" } } } } }
        """#

    static func model() throws -> SyncModel { try SyncModel(schemaData: Data(schema.utf8)) }

    static func stack(_ capabilities: StoreCapabilities = capabilities) throws -> MemoryStack {
        try MemoryStack(model(), capabilities: capabilities)
    }

    static func date(_ text: String) -> Date {
        JSONValue.string(text).date ?? Date(timeIntervalSince1970: 0)
    }
}

extension SyncResult {
    /// Each diagnostic as its kind, its path and its message.
    var lines: [String] { diagnostics.map { "\($0.kind) \($0.path): \($0.message)" } }

    /// Each diagnostic as its kind and its path.
    var places: [String] { diagnostics.map { "\($0.kind) \($0.path)" } }
}
