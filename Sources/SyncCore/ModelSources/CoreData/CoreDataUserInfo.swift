import Foundation

/// What the user info of a model, an entity, an attribute or a relationship says about mapping, under the prefix `sync.` or the older
/// `hyper.`. The newer spelling counts if both are there.
struct CoreDataUserInfo {
    private var entries: [String: String] = [:]

    init(_ element: CoreDataElement) {
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            if let key = entry.attributes["key"] { entries[key] = entry.attributes["value"] ?? "" }
        }
    }

    private func value(_ name: String) -> String? { entries["sync.\(name)"] ?? entries["hyper.\(name)"] }
    private func text(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// What stands between commas.
    private func texts(_ name: String) -> [String] {
        let parts = (text(name) ?? "").split(separator: ",")
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    var isPrimaryKey: Bool { ["YES", "true"].contains(value("isPrimaryKey")) }
    var remoteKey: String? { text("remoteKey") }
    /// Several in a chain stand between commas.
    var transformers: [String] { texts("valueTransformer") }
    var format: AttributeFormat? { text("format").map(AttributeFormat.init) }
    /// As a schema file spells it.
    var keys: String? { text("keys") }
    var ignore: [String] { texts("ignore") }
    var resourceType: String? { text("type") }
    var table: String? { text("table") }
    var column: String? { text("column") }
    var inverseColumn: String? { text("inverseColumn") }
    /// The name of an attribute, or `YES` for the primary key.
    var keyedBy: MemberNames? {
        text("keyedBy").map { ["YES", "true"].contains($0) ? .primaryKey : .attribute($0) }
    }
    /// The key of the member that tells the kinds of an entity apart.
    var discriminator: String? { text("discriminator") }
    var otherwise: String? { text("otherwise") }
    /// What that member says of an entity; several with commas between them.
    var kinds: [String] {
        texts("kind")
    }
    /// Whatever the entry's value is, its presence excludes from exports.
    var isExportable: Bool { value("nonExportable") == nil }
}
