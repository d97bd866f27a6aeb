// Written by 'syncdb schema swift'.

import Foundation
import GRDB

enum ZooRecords {
    /// The stored rows of Animal.
    struct Animal: Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String?
        var weight: String?
        var keeperID: Int?
        var sync_entity: String

        static let databaseTableName = "Animal"

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let weight = Column("weight")
            static let keeperID = Column("keeperID")
            static let sync_entity = Column("sync_entity")
        }
    }

    /// The stored rows of Bird.
    struct Bird: Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String?
        var weight: String?
        var wingspan: Double?
        var canFly: Bool?
        var keeperID: Int?
        var sync_entity: String

        static let databaseTableName = "Animal"

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let weight = Column("weight")
            static let wingspan = Column("wingspan")
            static let canFly = Column("canFly")
            static let keeperID = Column("keeperID")
            static let sync_entity = Column("sync_entity")
        }
    }

    /// The stored rows of Keeper.
    struct Keeper: Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        var id: Int
        var badge: String?
        var deputyID: Int?

        static let databaseTableName = "Keeper"

        enum Columns {
            static let id = Column("id")
            static let badge = Column("badge")
            static let deputyID = Column("deputyID")
        }
    }

    /// The stored rows of Mammal.
    struct Mammal: Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String?
        var weight: String?
        var legs: Int?
        var keeperID: Int?
        var sync_entity: String

        static let databaseTableName = "Animal"

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let weight = Column("weight")
            static let legs = Column("legs")
            static let keeperID = Column("keeperID")
            static let sync_entity = Column("sync_entity")
        }
    }

    /// The stored rows of Parrot.
    struct Parrot: Codable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String?
        var weight: String?
        var wingspan: Double?
        var canFly: Bool?
        var vocabulary: String?
        var keeperID: Int?
        var sync_entity: String

        static let databaseTableName = "Animal"

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }

        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let weight = Column("weight")
            static let wingspan = Column("wingspan")
            static let canFly = Column("canFly")
            static let vocabulary = Column("vocabulary")
            static let keeperID = Column("keeperID")
            static let sync_entity = Column("sync_entity")
        }
    }
}
