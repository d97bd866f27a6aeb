import Foundation
import SyncCore

@testable import SyncSQLite

/// Models that the store tests share.
enum Models {
    /// A model with an attribute of every type, and an integer key.
    static func everyType() throws -> SyncModel {
        let types = AttributeType.allCases.map { SyncModel.Attribute("\($0.rawValue)Value", $0) }
        return try SyncModel(entities: [
            SyncModel.Entity("Thing", attributes: [SyncModel.Attribute("id", .integer)] + types)
        ])
    }

    /// A model with every kind of association.
    static func links() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "Company", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "company")]),
            SyncModel.Entity(
                "Passport", attributes: [SyncModel.Attribute("number", .string, isPrimaryKey: true)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "passport")]),
            SyncModel.Entity(
                "Note", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "notes")]),
            SyncModel.Entity(
                "Tag", attributes: [SyncModel.Attribute("uuid", .uuid, isPrimaryKey: true)],
                relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "tags")]),
            SyncModel.Entity("Photo", attributes: [SyncModel.Attribute("id", .integer)]),
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                relationships: [
                    SyncModel.Relationship("company", to: "Company", inverse: "users"),
                    SyncModel.Relationship("passport", to: "Passport", inverse: "user", deleteRule: .cascade),
                    SyncModel.Relationship(
                        "notes", to: "Note", many: true, ordered: true, inverse: "user", deleteRule: .cascade),
                    SyncModel.Relationship("tags", to: "Tag", many: true, ordered: true, inverse: "users"),
                    SyncModel.Relationship("photos", to: "Photo", many: true),
                    SyncModel.Relationship("avatar", to: "Photo"),
                    SyncModel.Relationship("manager", to: "User", inverse: "reports"),
                    SyncModel.Relationship("reports", to: "User", many: true, inverse: "manager"),
                    SyncModel.Relationship("friends", to: "User", many: true, inverse: "friends"),
                    SyncModel.Relationship("spouse", to: "User", inverse: "spouse"),
                ]),
        ])
    }

    /// A model with a hierarchy that has a common key, one whose entities have separate keys, and a keyless entity.
    static func trees() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "Animal", isAbstract: true,
                attributes: [
                    SyncModel.Attribute("id", .integer),
                    SyncModel.Attribute("name", .string, isOptional: false, defaultValue: .string("?")),
                ],
                relationships: [SyncModel.Relationship("owner", to: "Person", inverse: "animals")]),
            SyncModel.Entity(
                "Dog", parent: "Animal", attributes: [SyncModel.Attribute("tricks", .integer, isOptional: false)],
                relationships: [SyncModel.Relationship("kennel", to: "Kennel")]),
            SyncModel.Entity(
                "Cat", parent: "Animal", attributes: [SyncModel.Attribute("lives", .integer, defaultValue: .integer(9))]
            ),
            SyncModel.Entity("Kennel", attributes: [SyncModel.Attribute("place", .string)]),
            SyncModel.Entity(
                "Person", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("animals", to: "Animal", many: true, inverse: "owner")]),
            SyncModel.Entity("Media", isAbstract: true, attributes: [SyncModel.Attribute("title", .string)]),
            SyncModel.Entity(
                "Book", parent: "Media", attributes: [SyncModel.Attribute("isbn", .string, isPrimaryKey: true)]),
            SyncModel.Entity(
                "Film", parent: "Media", attributes: [SyncModel.Attribute("code", .integer, isPrimaryKey: true)]),
            SyncModel.Entity("Short", parent: "Film", attributes: [SyncModel.Attribute("minutes", .integer)]),
        ])
    }
}
