/// What the user info of an entity, an attribute or a relationship says about mapping, under the prefix `sync.` or the older
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

    var isPrimaryKey: Bool { ["YES", "true"].contains(value("isPrimaryKey")) }
    var keepsFingerprints: Bool { ["YES", "true"].contains(value("fingerprints")) }
    var remoteKey: String? { text("remoteKey") }
    var transformer: String? { text("valueTransformer") }
    /// Whatever the entry's value is, its presence excludes from exports.
    var isExportable: Bool { value("nonExportable") == nil }
}
