import SyncCore

/// Finds values that are read or exported otherwise than the model says.
struct ConversionExamination {
    private let model: SyncModel

    init(_ model: SyncModel) { self.model = model }

    var findings: [SyncExamination.Finding] { missing + leftOut }

    private var missing: [SyncExamination.Finding] {
        model.missingTransformers.map { missing in
            SyncExamination.Finding(
                .missingTransformer, entity: missing.entity,
                path: "entities.\(missing.entity).attributes.\(missing.attribute).transformer",
                message: "\(missing.entity).\(missing.attribute) names the transformer '\(missing.name)', "
                    + "which nobody registered: its values are taken without it",
                advice: "an app registers it on the model; built in are "
                    + BuiltInTransformer.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// Of each member once, though sub-entities have it too.
    private var leftOut: [SyncExamination.Finding] {
        var seen: Set<String> = []
        return model.compiled.entities.flatMap { entity -> [SyncExamination.Finding] in
            let key = ExportShapeKey(entity: entity.id, destination: entity.id, isNested: false)
            let shape = try? ExportShapeBuilder.shape(key, of: model, ExportOptions())
            return (shape?.omissions ?? []).compactMap { omission in
                let slot = entity.slotByName[omission.member]
                let owner = slot.map { "\(entity.table.index).\($0)" } ?? "\(entity.name).\(omission.member)"
                guard seen.insert(owner).inserted else { return nil }
                let group = slot == nil ? "relationships" : "attributes"
                return SyncExamination.Finding(
                    .leftOutOfExports, entity: entity.name,
                    path: "entities.\(entity.name).\(group).\(omission.member)", message: "\(omission)",
                    advice: advice(omission.reason))
            }
        }
    }

    private func advice(_ reason: ExportOmission.Reason) -> String {
        switch reason {
        case .noWayBack: "give the transformer an exporting direction, or say \"export\": false"
        case .noKey: "give one of the two a remoteKey, or say \"export\": false"
        }
    }
}
