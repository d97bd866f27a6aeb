/// A Swift type that is an entity: its stored properties are the attributes, its values are rows.
///
/// `@Entity` writes the conformance; without the macro it is a table of key paths:
///
/// ```swift
/// struct Tag: SyncEntity {
///     var id: Int
///     var name: String
///
///     static let syncEntity = SyncModel.Entity(
///         "Tag", attributes: [.init("id", Int.self), .init("name", String.self)])
///     static var syncProperties: [PartialKeyPath<Tag>: SyncProperty] { [\.id: "id", \.name: "name"] }
/// }
/// ```
public protocol SyncEntity: Sendable {
    /// The entity as a model declares it.
    static var syncEntity: SyncModel.Entity { get }
    /// Which attribute or relationship each property is.
    static var syncProperties: [PartialKeyPath<Self>: SyncProperty] { get }
}
