extension StagedPayload {
    /// The payload, or its last piece where none before had a record that could be read.
    ///
    /// - Throws: ``SyncError`` `noRecords` if the payload has records and none of them has a readable key: it is not the
    ///   answer that was asked for, so nothing in it counts. Records that are refused for something else were read.
    ///
    /// - Parameter unfit: A key of an earlier piece that does not fit, if one does not.
    func requiringRecords(
        of model: Model, _ options: SyncOptions, after unfit: Diagnostic? = nil
    ) throws -> StagedPayload {
        try plan.requireRecords(of: model, options, after: unfit)
        return self
    }
}

extension ChangePlan {
    fileprivate func requireRecords(of model: Model, _ options: SyncOptions, after unfit: Diagnostic?) throws {
        let count = firstRecord + rootRecords
        guard count > 0, readableRootRecords == 0, !options.admitsNoRecords else { return }
        let name = self.model.entities[entity].name
        let key = try model.primaryKeyParts(of: name).map(\.remote).joined(separator: "', '")
        let found =
            isLoneObject || count == 1
            ? "the record has no readable '\(key)'" : "none of \(count) has a readable '\(key)'"
        let reason = try (unfit ?? unfitKey(of: model)).map { ", as in \($0.path): \($0.message)" } ?? ""
        var error = SyncError(
            .noRecords, "no record can be read: \(found)\(reason)", entity: name,
            path: options.keyPath.isEmpty ? "$" : options.keyPath.joined(separator: "."))
        error.keyPaths = listPaths.map { options.keyPath + $0 }
        throw error
    }

    /// What says that the key of a record is of another type, if any does.
    func unfitKey(of model: Model) throws -> Diagnostic? {
        let name = self.model.entities[entity].name
        let keys = try model.primaryKeyParts(of: name).map(\.remote)
        return diagnostics.first { diagnostic in
            diagnostic.kind == .valueDoesNotFit && diagnostic.entity == name
                && keys.contains { diagnostic.path.hasSuffix(".\($0)") }
        }
    }
}

extension PayloadMapper {
    /// The record just mapped is one object in no array: it says what it is, not what else there is. Where it has no key,
    /// the records may be in a list inside it.
    mutating func noteLoneObject(_ tape: JSONTape, _ bytes: Bytes) {
        plan.isLoneObject = true
        if plan.readableRootRecords == 0 { plan.listPaths = tape.listPaths(in: bytes) }
    }
}
