import SyncCore

/// Reduces a failing case as long as it fails.
enum CaseShrinker {
    static func smallest(
        _ original: PropertyCase, failing: (PropertyCase) async throws -> Bool
    ) async throws -> PropertyCase {
        var smallest = original
        var attempts = 0
        var goesOn = true
        while goesOn {
            goesOn = false
            for candidate in candidates(of: smallest) where attempts < 3000 {
                attempts += 1
                guard try await failing(candidate) else { continue }
                smallest = candidate
                goesOn = true
                break
            }
        }
        return smallest
    }

    /// Returns cases with one step, one part of a payload, one argument or one relationship less.
    private static func candidates(of propertyCase: PropertyCase) -> [PropertyCase] {
        var found: [PropertyCase] = []
        for index in propertyCase.steps.indices where propertyCase.steps.count > 1 {
            var smaller = propertyCase
            smaller.steps.remove(at: index)
            found.append(smaller)
        }
        for index in propertyCase.steps.indices {
            for payload in without(.array(propertyCase.steps[index].payload)) {
                guard case .array(let records) = payload else { continue }
                var smaller = propertyCase
                smaller.steps[index].payload = records
                found.append(smaller)
            }
            var plain = propertyCase
            plain.steps[index].shape = .list
            if propertyCase.steps[index].shape != .list { found.append(plain) }
            plain = propertyCase
            plain.steps[index].operations = .all
            if propertyCase.steps[index].operations != .all { found.append(plain) }
            plain = propertyCase
            plain.steps[index].predicate = nil
            if propertyCase.steps[index].predicate != nil { found.append(plain) }
            plain = propertyCase
            plain.steps[index].keyedBy = nil
            if propertyCase.steps[index].keyedBy != nil { found.append(plain) }
        }
        return found + models(propertyCase)
    }

    private static func models(_ propertyCase: PropertyCase) -> [PropertyCase] {
        var found: [PropertyCase] = []
        for (index, entity) in propertyCase.model.entities.enumerated() {
            for name in entity.relationships.filter({ $0.keyedBy != nil }).map(\.name) {
                var entities = propertyCase.model.entities
                for place in entities[index].relationships.indices
                where entities[index].relationships[place].name == name {
                    entities[index].relationships[place].keyedBy = nil
                }
                guard let model = try? SyncModel(entities: entities) else { continue }
                var smaller = propertyCase
                smaller.model = model
                found.append(smaller)
            }
            for name in entity.relationships.map(\.name) {
                var entities = propertyCase.model.entities
                entities[index].relationships.removeAll { $0.name == name }
                for other in entities.indices {
                    entities[other].relationships.removeAll { $0.inverse == name }
                }
                guard let model = try? SyncModel(entities: entities) else { continue }
                var smaller = propertyCase
                smaller.model = model
                found.append(smaller)
            }
            var entities = propertyCase.model.entities
            entities.remove(at: index)
            guard let model = try? SyncModel(entities: entities) else { continue }
            var smaller = propertyCase
            smaller.model = model
            found.append(smaller)
        }
        return found
    }

    /// Returns the value with one element or member less, at any depth.
    private static func without(_ value: JSONValue) -> [JSONValue] {
        switch value {
        case .array(let elements):
            return elements.indices.map { index in
                var fewer = elements
                fewer.remove(at: index)
                return .array(fewer)
            }
                + elements.indices.flatMap { index in
                    without(elements[index]).map { smaller in
                        var changed = elements
                        changed[index] = smaller
                        return .array(changed)
                    }
                }
        case .object(let members):
            // Without its key a record would describe another row.
            return members.indices.filter { members[$0].key != "id" }.map { index in
                var fewer = members
                fewer.remove(at: index)
                return .object(fewer)
            }
                + members.indices.flatMap { index in
                    without(members[index].value).map { smaller in
                        var changed = members
                        changed[index].value = smaller
                        return .object(changed)
                    }
                }
        default: return []
        }
    }
}
