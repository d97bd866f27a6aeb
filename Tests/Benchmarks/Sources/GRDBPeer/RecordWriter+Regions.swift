import GRDB

extension RecordWriter {
    func write(regions: [RegionPayload]) throws {
        var kept = KeptRegions()
        for region in regions {
            try put(Region(id: region.id, name: region.name, updatedAt: region.updatedAt))
            kept.regions.insert(region.id)
            for store in region.stores { try write(store, of: region.id, &kept) }
        }
        try deleteMissing(Product.self, except: kept.products)
        try deleteMissing(Shelf.self, except: kept.shelves)
        try deleteMissing(Aisle.self, except: kept.aisles)
        try deleteMissing(Department.self, except: kept.departments)
        try deleteMissing(Store.self, except: kept.stores)
        try deleteMissing(Region.self, except: kept.regions)
    }

    private func write(_ store: StorePayload, of region: Int64, _ kept: inout KeptRegions) throws {
        try put(Store(id: store.id, name: store.name, updatedAt: store.updatedAt, regionID: region))
        kept.stores.insert(store.id)
        for department in store.departments {
            try put(
                Department(
                    id: department.id, name: department.name, updatedAt: department.updatedAt, storeID: store.id))
            kept.departments.insert(department.id)
            for aisle in department.aisles { try write(aisle, of: department.id, &kept) }
        }
    }

    private func write(_ aisle: AislePayload, of department: Int64, _ kept: inout KeptRegions) throws {
        try put(Aisle(id: aisle.id, name: aisle.name, updatedAt: aisle.updatedAt, departmentID: department))
        kept.aisles.insert(aisle.id)
        for shelf in aisle.shelves {
            try put(Shelf(id: shelf.id, name: shelf.name, updatedAt: shelf.updatedAt, aisleID: aisle.id))
            kept.shelves.insert(shelf.id)
            for product in shelf.products {
                try put(
                    Product(
                        id: product.id, name: product.name, updatedAt: product.updatedAt, price: product.price,
                        stock: product.stock, shelfID: shelf.id))
                kept.products.insert(product.id)
            }
        }
    }
}

/// The keys of the payload.
private struct KeptRegions {
    var regions: Set<Int64> = []
    var stores: Set<Int64> = []
    var departments: Set<Int64> = []
    var aisles: Set<Int64> = []
    var shelves: Set<Int64> = []
    var products: Set<Int64> = []
}
