import SyncCore
import SyncStore

/// A model with inheritance, composite keys, lists, an association of many with many, and defaults.
enum MediaModel {
    static func layout() throws -> StoreLayout {
        StoreLayout(
            try SyncModel(entities: [
                SyncModel.Entity(
                    "Shelf", primaryKey: ["room", "number"],
                    attributes: [SyncModel.Attribute("room", .string), SyncModel.Attribute("number", .integer)],
                    relationships: [
                        SyncModel.Relationship("media", to: "Media", many: true, ordered: true, inverse: "shelf")
                    ]),
                SyncModel.Entity(
                    "Label", primaryKey: ["shelf", "day"], attributes: [SyncModel.Attribute("day", .date)],
                    relationships: [SyncModel.Relationship("shelf", to: "Shelf")]),
                SyncModel.Entity(
                    "Media",
                    attributes: [
                        SyncModel.Attribute("id", .integer),
                        SyncModel.Attribute("title", .string, isOptional: false, defaultValue: .string("it's")),
                        SyncModel.Attribute("copies", .integer, defaultValue: .integer(1)),
                        SyncModel.Attribute("price", .decimal),
                    ],
                    relationships: [
                        SyncModel.Relationship("shelf", to: "Shelf", inverse: "media"),
                        SyncModel.Relationship("tags", to: "Tag", many: true, ordered: true, inverse: "media"),
                    ]),
                SyncModel.Entity(
                    "Film", parent: "Media",
                    attributes: [SyncModel.Attribute("length", .double, defaultValue: .double(90))],
                    relationships: [SyncModel.Relationship("director", to: "Person", inverse: "films")]),
                SyncModel.Entity(
                    "Person", attributes: [SyncModel.Attribute("code", .string, isPrimaryKey: true)],
                    relationships: [
                        SyncModel.Relationship(
                            "films", to: "Film", many: true, inverse: "director", deleteRule: .cascade)
                    ]),
                SyncModel.Entity(
                    "Tag", attributes: [SyncModel.Attribute("name", .string, isPrimaryKey: true)],
                    relationships: [SyncModel.Relationship("media", to: "Media", many: true, inverse: "tags")]),
            ]).compiled)
    }
}
