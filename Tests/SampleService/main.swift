import AfarServiceLifecycle
import Configuration
import Logging
import ServiceLifecycle
import UnixSignals

// CATALOG_BASE_URL=https://catalog.example/v1/ SHOP_PORT=8080 SampleService
let reader = ConfigReader(provider: EnvironmentVariablesProvider())
let shop = try await ShopService(reader)
let server = ShopServer(shop: shop, port: UInt16(clamping: reader.int(forKey: "shop.port", default: 0)))
try await ServiceGroup(
    services: [shop.catalog, shop.webhooks, server], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "shop")
).run()
