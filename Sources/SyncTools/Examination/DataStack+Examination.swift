import SyncCore
public import SyncSQLite

extension DataStack {
    /// What is wrong with the store, or worth a look: rows without a value they require, references that wait for their
    /// rows, what SQLite finds damaged, and what the model leaves open.
    ///
    /// - Throws: ``SyncError`` `storeFailure`.
    public func examine() async throws -> SyncExamination {
        let dangling = try await danglingLinks().map {
            SyncExamination.Finding(
                .damage, entity: nil, path: nil, message: $0,
                advice:
                    "import: a sync that meets such a link removes all of them; whatever left it there should delete "
                    + "rows with foreign keys on")
        }
        let broken = try await brokenPages().map {
            SyncExamination.Finding(
                .damage, entity: nil, path: nil, message: $0,
                advice: "restore a copy, or make a new database and import again")
        }
        let waiting = try await unresolvedReferences().map { SyncExamination.Finding($0, path: nil) }
        return SyncExamination(of: model).adding(dangling + broken + (try await missingValues()) + waiting)
    }

    /// Keys are left out: a local one reads as nil.
    private func missingValues() async throws -> [SyncExamination.Finding] {
        var findings: [SyncExamination.Finding] = []
        for entity in model.compiled.entities {
            let attributes = entity.slots.filter { !entity.keySlots.contains($0) }
                .map { model.compiled[entity.table].attributes[$0] }
            let required =
                attributes.filter { !$0.isOptional }.map { ($0.name, "attributes") }
                + entity.relationships.filter { !$0.relationship.isOptional }.map { ($0.name, "relationships") }
            for (name, group) in required {
                let count = try await count(entity.name, where: .attribute(name) == nil)
                guard count > 0 else { continue }
                findings.append(
                    SyncExamination.Finding(
                        .requiredValueMissing, entity: entity.name, path: "entities.\(entity.name).\(group).\(name)",
                        message: "\(count) \(entity.name) row\(count == 1 ? " has" : "s have") no \(name), "
                            + "which is not optional",
                        advice: "sync rows that have it, or make it optional", count: count))
            }
        }
        return findings
    }
}
