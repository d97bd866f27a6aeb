import Foundation
import SyncCore

@testable import SyncSQLite

/// The models the store tests share.
enum Models {
    /// One attribute of every type, under an integer key.
    static func everyType() throws -> Model {
        let types = AttributeType.allCases.map { Attribute("\($0.rawValue)Value", $0) }
        return try Model(entities: [Entity("Thing", attributes: [Attribute("id", .integer)] + types)])
    }

    /// A link of every kind.
    static func links() throws -> Model {
        try Model(entities: [
            Entity(
                "Company", attributes: [Attribute("id", .integer), Attribute("name", .string)],
                relationships: [Relationship("users", to: "User", many: true, inverse: "company")]),
            Entity(
                "Passport", attributes: [Attribute("number", .string, isPrimaryKey: true)],
                relationships: [Relationship("user", to: "User", inverse: "passport")]),
            Entity(
                "Note", attributes: [Attribute("id", .integer)],
                relationships: [Relationship("user", to: "User", inverse: "notes")]),
            Entity(
                "Tag", attributes: [Attribute("uuid", .uuid, isPrimaryKey: true)],
                relationships: [Relationship("users", to: "User", many: true, inverse: "tags")]),
            Entity("Photo", attributes: [Attribute("id", .integer)]),
            Entity(
                "User", attributes: [Attribute("id", .integer), Attribute("name", .string)],
                relationships: [
                    Relationship("company", to: "Company", inverse: "users"),
                    Relationship("passport", to: "Passport", inverse: "user", deleteRule: .cascade),
                    Relationship("notes", to: "Note", many: true, ordered: true, inverse: "user", deleteRule: .cascade),
                    Relationship("tags", to: "Tag", many: true, ordered: true, inverse: "users"),
                    Relationship("photos", to: "Photo", many: true),
                    Relationship("avatar", to: "Photo"),
                    Relationship("manager", to: "User", inverse: "reports"),
                    Relationship("reports", to: "User", many: true, inverse: "manager"),
                    Relationship("friends", to: "User", many: true, inverse: "friends"),
                    Relationship("spouse", to: "User", inverse: "spouse"),
                ]),
        ])
    }

    /// A tree with a common key, one whose entities each have their own, and an entity without a key.
    static func trees() throws -> Model {
        try Model(entities: [
            Entity(
                "Animal", isAbstract: true,
                attributes: [
                    Attribute("id", .integer),
                    Attribute("name", .string, isOptional: false, defaultValue: .string("?")),
                ],
                relationships: [Relationship("owner", to: "Person", inverse: "animals")]),
            Entity(
                "Dog", parent: "Animal", attributes: [Attribute("tricks", .integer, isOptional: false)],
                relationships: [Relationship("kennel", to: "Kennel")]),
            Entity("Cat", parent: "Animal", attributes: [Attribute("lives", .integer, defaultValue: .integer(9))]),
            Entity("Kennel", attributes: [Attribute("place", .string)]),
            Entity(
                "Person", attributes: [Attribute("id", .integer)],
                relationships: [Relationship("animals", to: "Animal", many: true, inverse: "owner")]),
            Entity("Media", isAbstract: true, attributes: [Attribute("title", .string)]),
            Entity("Book", parent: "Media", attributes: [Attribute("isbn", .string, isPrimaryKey: true)]),
            Entity("Film", parent: "Media", attributes: [Attribute("code", .integer, isPrimaryKey: true)]),
            Entity("Short", parent: "Film", attributes: [Attribute("minutes", .integer)]),
        ])
    }
}
