import SyncCore

extension PayloadGraph {
    /// Returns the complete graph as text, wherever its strings are stored.
    ///
    /// - Parameter withPlaces: Whether to include locations and values. They are spelled as in the payload, so they
    ///   differ for a string whose escapes were decoded before mapping.
    func text(withPlaces: Bool) -> String {
        withTexts { pool in
            var lines = ["records \(readableRootRecords) of \(rootRecords), alone \(roots[0].isSingleRecord)"]
            for hierarchy in model.hierarchies { lines += self[hierarchy.id].lines(hierarchy.attributes, pool) }
            for (link, batch) in links.enumerated() {
                lines += batch.assertions.map {
                    let pair = "\($0.first.index) \($0.second.index) #\($0.sequence) at \($0.position)"
                    return "link \(link): \(pair) \($0.assertedBy) \($0.isListed) \($0.isByID)"
                }
                lines += batch.replacements.map {
                    "list \(link): \($0.node.index) \($0.end) \($0.kind) #\($0.sequence)"
                }
            }
            lines += ownedRows.map { "owned \($0.table.index) \($0.node.index)" }
            lines += occurrences.indices.map {
                let node = occurrences[$0].node.map { "\($0.index)" } ?? "-"
                return "mention \(occurrences[$0].table.index) \(node) \(withPlaces ? path(of: $0, pool) : "")"
            }
            lines += diagnostics.map { withPlaces ? "\($0)" : "\($0.kind) of \($0.entity) \($0.key ?? "")" }
            lines += unmappedKeys.map { "\($0)" } + ["and \(omittedDiagnosticCount)"]
            return lines.joined(separator: "\n")
        }
    }
}

extension NodeBatch {
    fileprivate func lines(_ attributes: [SyncModel.Attribute], _ pool: TextPool) -> [String] {
        var lines: [String] = []
        for node in nodes {
            lines.append("row of \(node.entity), root \(node.isRoot), owned \(node.ownerIndex != nil)")
            var version = Int(node.firstVersion)
            while version >= 0 {
                let values = attributes.indices.map { slot in
                    let value = slot < firstSlot ? node.key : slots[version * stride + slot - firstSlot]
                    return StoredValue(value, as: attributes[slot].type, pool).map { "\($0)" } ?? "-"
                }
                lines.append("  \(values.joined(separator: " | "))")
                version = Int(self.version(after: Int32(version)))
            }
        }
        return lines
    }
}
