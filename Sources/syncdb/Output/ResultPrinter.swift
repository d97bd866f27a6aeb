import Sync

/// A sync's result for people.
struct ResultPrinter {
    let result: SyncResult
    let model: SyncModel
    /// How many rows or remarks of one kind are listed before "and N more"; nil for all.
    let limit: Int?
    var style = Style.plain

    /// A table with one line per entity, then links.
    var summary: VisibleText {
        ([result.entities.isEmpty ? "nothing to do" : table] + linkLines + repeatLines).joined(separator: "\n")
    }

    /// What became of records that share a key.
    private var repeatLines: [VisibleText] {
        let contradictions = result.contradictions
        let contrary: VisibleText =
            "\(contradictions) \(contradictions == 1 ? "contradicts" : "contradict") an earlier one"
        guard result.repeatedRecords > 0 else {
            guard contradictions > 0 else { return [] }
            return ["of the records that share a key, " + contrary]
        }
        let rows = result.records - result.repeatedRecords
        let merged: VisibleText = "\(result.records) records are \(rows) row\(rows == 1 ? "" : "s")"
        return [contradictions == 0 ? merged : merged + "; " + contrary]
    }

    /// One line per row and its values, then one per row whose links changed. See ``ChangePrinter``.
    var rows: VisibleText {
        let printer = ChangePrinter(style: style, names: names, limit: limit)
        let rows = entities.flatMap { name, changes in
            listed(places(changes.inserted), of: changes.insertedCount) {
                printer.inserted(name, changes.inserted[$0], changes.insertedRows?[$0])
            }
                + listed(changes.updated, of: changes.updatedCount) { printer.updated(name, $0) }
                + listed(places(changes.deleted), of: changes.deletedCount) {
                    printer.deleted(name, changes.deleted[$0], changes.deletedRows?[$0])
                }
        }
        let links = listed(LinkGroup.groups(of: result, toMany: isToMany)) {
            printer.links($0.owner, added: $0.added, removed: $0.removed)
        }
        return (rows + links).joined(separator: "\n")
    }

    private func places(_ keys: [RecordKey]) -> [Int] { Array(keys.indices) }

    /// What a line about a row can show besides the key.
    private var names: [String: [String]] {
        var names: [String: [String]] = [:]
        for entity in model.compiled.entities {
            let attributes = entity.slots.filter { !entity.keySlots.contains($0) }.map {
                model.compiled[entity.table].attributes[$0].name
            }
            names[entity.name] = attributes + entity.relationships.filter { !$0.isToMany }.map(\.name)
        }
        return names
    }

    private func isToMany(_ entity: String, _ relationship: String) -> Bool {
        model.compiled.entityID(entity).flatMap { model.compiled.entities[$0].relationship(named: relationship) }?
            .isToMany ?? false
    }

    /// The synced entity first, then the others by name.
    private var entities: [(key: String, value: SyncResult.EntityChanges)] {
        result.entities.sorted { left, right in
            (left.key == result.entity ? 0 : 1, left.key) < (right.key == result.entity ? 0 : 1, right.key)
        }
    }

    private var table: VisibleText {
        let counts = ["inserted", "updated", "deleted", "unchanged"].map {
            TablePrinter.Column(title: $0, isNumeric: true)
        }
        var table = TablePrinter([TablePrinter.Column(title: "entity")] + counts)
        table.style = style
        for (name, changes) in entities {
            let counts = [
                changes.insertedCount, changes.updatedCount, changes.deletedCount, changes.unchangedCount,
            ]
            table.add([name] + counts.map(String.init))
        }
        return table.text
    }

    private var linkLines: [VisibleText] {
        guard result.linksAdded > 0 || result.linksRemoved > 0 else { return [] }
        return ["links: \(result.linksAdded) added, \(result.linksRemoved) removed"]
    }

    /// What was not taken, what waits, what was mended.
    var remarks: [VisibleText] {
        let isKept = { (diagnostic: SyncResult.Diagnostic) in diagnostic.kind == .deletionsSkipped }
        let diagnostics = result.diagnostics.filter { !isKept($0) }
        let kept = result.diagnostics.filter(isKept).map { kept -> VisibleText in
            "not deleted: \(kept.message), the first at \(kept.path) (entity \(kept.entity)); "
                + "--deletes-beside-unread deletes them"
        }
        return kept
            + listed(diagnostics, of: diagnostics.count + result.omittedDiagnostics) {
                $0.kind.isAboutStore
                    ? "mended: \($0.message) (entity \($0.entity))"
                    : "not taken: \($0.path): \($0.message) (entity \($0.entity))"
            }
            + listed(result.unresolved) {
                "waiting: \($0.entity) \($0.key) names \($0.target) as its \($0.relationship), which is not stored yet"
            }
            + listed(result.unmappedKeys) {
                "not in the model: key '\($0.key)' of \($0.entity), in \($0.count) record\($0.count == 1 ? "" : "s")"
            }
            + (result.nextPage.map { ["there is a next page: \($0)"] } ?? [])
    }

    private func listed<Element>(
        _ elements: [Element], of total: Int? = nil, _ line: (Element) -> VisibleText
    ) -> [VisibleText] {
        let list = ShortList(elements, upTo: limit, of: total)
        return list.lines(line, hint: list.shown.count < elements.count ? "--all lists them" : nil)
    }
}
