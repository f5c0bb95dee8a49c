/** The name people know a repository by: the last two parts of its key; of a folder on the server,
 * its name without the mark that keeps equal names apart. */
export function repositoryName(key: string): string {
  const parts = key.split("/").filter(Boolean).slice(-2);
  const name = parts.join("/") || key;
  return parts.length === 1 ? name.replace(/-[0-9a-f]{16}$/, "") || name : name;
}
