import Sync

/// A model for people: one block per entity.
///
///     User
///       remoteID   integer          primary key
///       email      string           from contact.email_address, required
///       company    → Company        inverse users
///       notes      → many Note      inverse user, cascade
struct ModelPrinter {
    let model: SyncModel
    var style = Style.plain

    var text: VisibleText {
        let rules = remarks(model.keys, model.ignore)
        let blocks = model.entities.map(block)
        return (rules.isEmpty ? blocks : ["\(rules)"] + blocks).joined(separator: "\n\n")
    }

    private func remarks(_ keys: KeyCase?, _ ignore: [String]) -> String {
        [keys.map { "keys in \($0.word)" }, ignore.isEmpty ? nil : "ignores \(ignore.joined(separator: ", "))"]
            .compactMap(\.self).joined(separator: "; ")
    }

    private func block(_ entity: SyncModel.Entity) -> VisibleText {
        var table = TablePrinter([
            TablePrinter.Column(title: title(entity)), TablePrinter.Column(title: ""), TablePrinter.Column(title: ""),
        ])
        table.maximumWidth = 80
        table.style = style
        for attribute in entity.attributes {
            table.add(["  " + attribute.name, type(attribute), remarks(attribute, of: entity)])
        }
        for relationship in entity.relationships {
            let many = relationship.isToMany ? (relationship.isOrdered ? "many ordered " : "many ") : ""
            table.add(["  " + relationship.name, "→ \(many)\(relationship.destination)", remarks(relationship)])
        }
        return table.text
    }

    private func title(_ entity: SyncModel.Entity) -> String {
        let rules = remarks(entity.keys, entity.ignore)
        return entity.name + (entity.parent.map { ": \($0)" } ?? "") + (entity.isAbstract ? " (abstract)" : "")
            + (rules.isEmpty ? "" : " (\(rules))")
    }

    private func type(_ attribute: SyncModel.Attribute) -> String {
        let name = attribute.type.rawValue
        guard let source = attribute.sourceType, source.lowercased() != name else { return name }
        return "\(name) (\(source))"
    }

    private func remarks(_ attribute: SyncModel.Attribute, of entity: SyncModel.Entity) -> String {
        var remarks: [String] = []
        if isKey(attribute, of: entity) { remarks.append("primary key") }
        if let key = attribute.remoteKey { remarks.append("from \(key)") }
        if !attribute.isOptional { remarks.append("required") }
        if attribute.defaultValue != nil { remarks.append("has a default") }
        if !attribute.transformers.isEmpty {
            remarks.append("through \(attribute.transformers.joined(separator: ", then "))")
        }
        if let format = attribute.format { remarks.append("written as \(format.text)") }
        if !attribute.isExportable { remarks.append("not exported") }
        return remarks.joined(separator: ", ")
    }

    private func remarks(_ relationship: SyncModel.Relationship) -> String {
        var remarks: [String] = []
        if let inverse = relationship.inverse { remarks.append("inverse \(inverse)") }
        if relationship.deleteRule != .nullify { remarks.append("\(relationship.deleteRule.rawValue)") }
        if let key = relationship.remoteKey { remarks.append("from \(key)") }
        if !relationship.isExportable { remarks.append("not exported") }
        return remarks.joined(separator: ", ")
    }

    private func isKey(_ attribute: SyncModel.Attribute, of entity: SyncModel.Entity) -> Bool {
        guard let compiled = try? model.compiled.entity(named: entity.name) else { return false }
        return model.compiled.keyNames(of: compiled).contains(attribute.name)
    }
}
