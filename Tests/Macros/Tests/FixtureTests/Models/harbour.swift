// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Harbour {
    @Entity(keyCase: .exact)
    struct Cargo {
        var id: Int
        var grossWeight: Double?
    }

    @Entity(keyCase: .pascal)
    struct Port {
        var remoteID: String
        var portName: String?
        var portType: String?
        @Relationship(inverse: "homePort") var ships: [Ship]
    }

    @Entity(ignoredKeys: ["_id", "port-id"])
    struct Ship {
        var id: Int
        @Transformer("htmlEntities", "trimmed", "emptyAsNull") var shipName: String?
        var shipType: String?
        var crestURL: URL?
        @Format("dd.MM.yyyy") var builtOn: Date?
        @Format("unix-milliseconds") var lastSeen: Date?
        @Transformer("commaSeparated", "lowercased") var flags: JSONValue?
        @RemoteKey("papers.owner") var owner: String?
        @Relationship(inverse: "ships") var homePort: Port?
        @Relationship var cargoItems: [Cargo]
    }

    @Entity(parent: Ship.self)
    struct Tug {
        var id: Int
        @Transformer("htmlEntities", "trimmed", "emptyAsNull") var shipName: String?
        var shipType: String?
        var crestURL: URL?
        @Format("dd.MM.yyyy") var builtOn: Date?
        @Format("unix-milliseconds") var lastSeen: Date?
        @Transformer("commaSeparated", "lowercased") var flags: JSONValue?
        @RemoteKey("papers.owner") var owner: String?
        var pullInTons: Int?
        @Relationship(inverse: "ships") var homePort: Port?
        @Relationship var cargoItems: [Cargo]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Cargo.self,
            Port.self,
            Ship.self,
            Tug.self,
            keyCase: .kebab,
            ignoredKeys: ["*-url", "trace.*"])
    }
}
