import SyncCore

/// What was seen of the root records of all samples, by entity.
struct InferenceRoots {
    private(set) var objects: [(entity: String, object: ObservedObject)] = []
    /// The keys that the caller names.
    private(set) var named: [String: [String]] = [:]
    /// Entity → what JSON:API calls its resources.
    var types: [String: String] {
        Dictionary(resources.objects.map { ($0.entity, $0.type) }, uniquingKeysWith: { first, _ in first })
    }
    private(set) var remarks: [InferenceRemark] = []
    private var places: [String: Int] = [:]
    private var resources = SampleResources()

    mutating func observe(_ sample: InferenceSample) throws {
        guard sample.form != .jsonAPI else { return try observe(resources: sample) }
        let records = try SampleRecords(sample)
        for entity in records.lists {
            if places[entity] == nil { add(entity, ObservedObject(entity: entity)) }
            if let keys = sample.keys { named[entity] = keys }
        }
        for (entity, lists) in Dictionary(grouping: sample.entities, by: \.value).sorted(by: { $0.key < $1.key })
        where lists.count > 1 {
            let names = lists.map { "'\($0.key)'" }.sorted().joined(separator: " and ")
            remarks.append(.init(entity, "of the lists \(names) together: records with the same key are one row"))
        }
        try records.forEach { record in
            guard let place = places[record.entity] else { return }
            let object = objects[place].object
            let isSure = sample.entities.isEmpty
            let keys = sample.keys.flatMap { isSure || record.value.keyText(of: $0) != nil ? $0 : nil }
            object.observe(record.value, primaryKey: keys)
            guard record.isLone, object.id(of: record.value, keys) == nil else { return }
            object.listPaths += record.listPaths
            if sample.form == .json { object.shape = DocumentShape(of: record.value) }
        }
    }

    private mutating func observe(resources sample: InferenceSample) throws {
        try resources.observe(sample)
        // Those that are only referred to come with what refers to them.
        for found in resources.objects where found.object.count > 0 {
            if places[found.entity] == nil { add(found.entity, found.object) }
            named[found.entity] = ["id"]
        }
        if resources.objects.isEmpty {
            throw SyncError(
                .noRecords, "there are no records from which a model could be inferred", entity: sample.entity)
        }
    }

    private mutating func add(_ entity: String, _ object: ObservedObject) {
        places[entity] = objects.count
        objects.append((entity, object))
    }
}
