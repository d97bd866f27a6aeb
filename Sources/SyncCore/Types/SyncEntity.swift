/// A Swift type that is an entity: its stored properties are the attributes, its values are rows.
///
/// `@Entity` writes the conformance; without the macro it is written by hand:
///
/// ```swift
/// struct Tag: SyncEntity {
///     var id: Int
///     var name: String
///
///     static let entityName = "Tag"
///     static var syncEntity: SyncModel.Entity {
///         SyncModel.Entity(entityName, attributes: [.init("id", Int.self), .init("name", String.self)])
///     }
///     static var syncProperties: [PartialKeyPath<Tag>: SyncProperty] { [\.id: "id", \.name: "name"] }
/// }
/// ```
public protocol SyncEntity: Sendable {
    /// What the entity is called in the model.
    static var entityName: String { get }
    /// The entity as a model declares it. Of a type whose entity has a parent it may repeat what that declares.
    static var syncEntity: SyncModel.Entity { get }
    /// Which attribute or relationship each property is.
    static var syncProperties: [PartialKeyPath<Self>: SyncProperty] { get }
}

extension SyncEntity {
    /// The type's own name.
    public static var entityName: String { "\(Self.self)" }
}
