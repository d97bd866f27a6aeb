extension SyncModel {
    /// What an export of an entity's rows leaves out although the model does not say so, in the rows it leads to as well.
    ///
    /// ```swift
    /// for omission in try stack.model.exportOmissions(of: "User") { print(omission) }
    /// ```
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func exportOmissions(
        of entity: String, options: ExportOptions = ExportOptions()
    ) throws -> [ExportOmission] {
        let start = try compiled.entity(named: entity)
        var found: [ExportOmission] = []
        var seen: Set<ExportShapeKey> = []
        var waiting = start.family.map { ExportShapeKey(entity: $0, destination: start.id, isNested: false) }
        while let key = waiting.popLast() {
            guard seen.insert(key).inserted else { continue }
            let shape = try ExportShapeBuilder.shape(key, of: self, options)
            if !compiled.entities[key.entity].isAbstract { found += shape.omissions.filter { !found.contains($0) } }
            guard options.relationships != .none else { continue }
            for hop in compiled.entities[key.entity].relationships where hop.relationship.isExportable {
                waiting += compiled.entities[hop.destination].family.map {
                    ExportShapeKey(
                        entity: $0, destination: hop.destination, isNested: options.relationships == .nested)
                }
            }
        }
        return found
    }
}
