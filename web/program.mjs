import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The native program, which is there where its own tests have run. */
export function program(target) {
  const built = join(target, "release", "tapescope");
  if (!existsSync(built)) {
    execFileSync("cargo", ["build", "--locked", "--release", "--quiet", "--no-default-features"], { stdio: "inherit" });
  }
  return built;
}
